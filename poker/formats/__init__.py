"""Readers and writers of other programs' files and protocols.

Read `histories.py` first: it recognises the format of a hand history from its text. A hand of a poker site is a
`PlayedHand` (`played.py`).
"""
