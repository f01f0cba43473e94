"""Best responses: over ranges, and to policies that play by card buckets."""
