"""Plumbing of long jobs, without any poker: errors, limits, progress, locks, atomic files, processes and machines.

Read `errors.py` first: every mistake that a user can make is a `PokernetsError` with a message of one line.
`parallel.py` runs tasks on all cores and `ray_cluster.py` on many machines, with the same results. `atomic.py` writes
files and folders atomically, and `lock.py` keeps a second process out of a folder.
"""
