"""Everything that can sit at a table."""
