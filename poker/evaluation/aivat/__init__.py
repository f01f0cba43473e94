"""AIVAT: results of matches with most of the luck removed, and the value functions that it uses."""
