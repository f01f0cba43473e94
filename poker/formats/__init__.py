"""Files and protocols of other programs, read and written.

`histories.py` first: hand histories of any format, told apart by their text. A hand of a site is a `PlayedHand`
(`played.py`).
"""
