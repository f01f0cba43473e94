"""`evaluate=decisions`: what agents and the solver decide in spots whose solution is public, beside that solution.

`experiment.py` first, the command; `solved.py` solves the spots.
"""
