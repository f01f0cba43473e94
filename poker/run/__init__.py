"""Needs of a long job that know no poker: errors, limits, progress, locks, whole files, processes and machines.

Read `errors.py` first: all that a user can do wrong is a `PokernetsError` of one line. `parallel.py` does tasks on
all cores and `ray_cluster.py` on many machines, with the same results. `atomic.py` writes files whole, `lock.py`
keeps a second process out of a folder.
"""
