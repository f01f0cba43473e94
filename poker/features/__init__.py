"""Inputs of the nets: their names, units, encoders and hashes, and the shards that carry them."""
