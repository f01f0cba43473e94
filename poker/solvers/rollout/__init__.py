"""Blueprints rolled out from depth-limit states: continuations, their values, tables and labelled states."""
