"""Hands that were played: the database of them, reviews of their decisions, drills made from them."""
