"""Questions that a person asks of a solver: spots, flops, reviews of hands, drills.

`spots/spots.py` first, a spot of hold'em as a file; `hands/review.py` says what each decision of a hand lost. The
pages in the browser (`poker/table`) and the command `pokernets` show what is computed here.
"""
