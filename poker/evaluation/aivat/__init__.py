"""AIVAT: results of matches with most of the luck taken out, and the value functions that it works with."""
