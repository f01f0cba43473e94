"""Nets, Lightning modules and data modules, and the inference that agents use."""
