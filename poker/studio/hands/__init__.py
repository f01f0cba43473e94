"""Hands that were played: a database, reviews of their decisions, and drills made from them."""
