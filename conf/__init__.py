"""Configuration: one root file per entry point, one group per kind of part, and the launcher that composes them."""

import gc

_ALLOCATIONS = 50_000
"""Objects between two collections of garbage. What commands import makes a million that stay; to look at them after
every 700, as Python does, takes a tenth of the time to start."""
gc.set_threshold(_ALLOCATIONS)
