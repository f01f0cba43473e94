"""Dealers and clients of the ACPC protocol, and the client of Slumbot.

`handshake.py` and `dealer.py` serve a match, `client.py` plays one, and `slumbot.py` plays at Slumbot's HTTP service.
"""
