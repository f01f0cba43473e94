"""Exploitability, and spots solved to be looked at."""
