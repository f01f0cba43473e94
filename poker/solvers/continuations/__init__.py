"""The opponent's continuations after the depth limit, generated from a blueprint ([DLS] section 4); exact values."""
