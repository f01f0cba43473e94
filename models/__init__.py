"""Nets, Lightning modules and data modules, and the inference the agents load."""
