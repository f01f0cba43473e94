"""Dealers and clients over the ACPC protocol and over HTTP services.

`handshake.py` and `dealer.py` serve a match, `client.py` plays one; `services.py` are the services of others.
"""
