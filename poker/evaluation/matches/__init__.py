"""Matches: line-ups played in every seating, their results and reports, and the dealer for other programs."""
