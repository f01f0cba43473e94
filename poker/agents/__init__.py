"""Everything that can sit at a table.

`base.py` first: an `Agent` is asked for an action, and one that has a policy for those of all hands. `searching/`
solves as it plays, `poki/` has [POKI]'s players, `foreign/` those of other programs.
"""
