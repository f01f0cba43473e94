"""Playing hands: line-ups, the one loop that plays a hand, and what is stored of it.

`hand.py` first, the loop; `session.py` plays many, `workers.py` in processes, `pool.py` for people who wait.
`network/` has dealers and clients.
"""
