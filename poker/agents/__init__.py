"""Agents: everything that can sit at a table."""
