"""Inputs of opponent nets: the 19 of [POKI], those of no-limit hands and of earlier hands.

`limit.py` first, the 19 inputs; `rows.py` is the form in which observed decisions are stored and learned from.
"""
