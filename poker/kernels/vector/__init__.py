"""Sweeps over whole ranges on all boards below a root."""
