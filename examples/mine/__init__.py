"""A package of your own with one part of each kind, as docs/extending.md describes them.

Commands find it with `PYTHONPATH=examples` and `hydra.searchpath=[examples/mine/conf]`.
"""
