"""Matches: who plays whom on which cards, in how many processes, what is kept of it and what it says."""
