"""Exploitability, and solved spots to explore."""
