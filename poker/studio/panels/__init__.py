"""Panels of the pages: advice at the table, drills, odds, and what an agent has learned of its opponent."""
