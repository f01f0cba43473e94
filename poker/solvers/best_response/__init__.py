"""Best responses and exploitability: public trees, whole flops, games of n players.

`public.py` first, exact in games of few cards; `unabstracted.py` is for hold'em's 1,755 flops.
"""
