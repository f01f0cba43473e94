"""`evaluate=decisions`: the decisions of agents and of the solver in spots with a published solution.

Read `experiment.py` first, which is the command; `solved.py` solves the spots.
"""
