"""AIVAT: results of matches with most of the luck taken out, and the guesses of values that it works with."""
