"""The page Explorer: ranges, spots and their solutions, preflop charts."""
