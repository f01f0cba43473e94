"""The kernel of a sampling solver: here one of the package's own."""

from poker.kernels.sampling.outcome_sampling import outcome_sampling as episode

__all__ = ["episode"]
