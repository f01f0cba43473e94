"""Configuration: one root file per entry point, one group per kind of part, and the code that composes them."""
