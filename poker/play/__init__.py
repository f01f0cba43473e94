"""Playing hands: line-ups, the loop that plays a hand, and the hands that are stored.

Start with `hand.py`, the loop. `session.py` plays many hands and `workers.py` plays them in several processes.
`network/` has dealers and clients.
"""
