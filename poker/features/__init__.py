"""What the nets see: names, units, encoders and hashes of their inputs, and the shards that carry them."""
