"""The ACPC protocol and its logs."""
