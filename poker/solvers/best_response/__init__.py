"""Best responses and exploitability: public trees, whole flops, and games of n players.

Read `public.py` first, which is exact in games with few cards. `flops.py` handles the 1,755 flops of hold'em that ends
with the flop, and `abstract.py` learns a response to a blueprint.
"""
