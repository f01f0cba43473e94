"""Hands of files: read, replayed, converted and reviewed."""
