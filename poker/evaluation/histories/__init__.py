"""Hands from files: replayed, converted and reviewed."""
