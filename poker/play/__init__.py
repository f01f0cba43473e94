"""Playing hands: line-ups, the one loop that plays a hand, and what is stored of it.

Start with `hand.py`, the loop; `session.py` plays many hands, `workers.py` plays them in processes. `network/` has
dealers and clients.
"""
