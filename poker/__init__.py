"""Solving, learning, playing and measuring poker: algorithms only, no command line and no configuration."""
