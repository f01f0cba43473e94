"""Shared parts of the jobs: progress, cost estimates, sources of hands and values of states."""
