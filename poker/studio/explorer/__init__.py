"""The page of the explorer: a spot is set up, solved, and walked through."""
