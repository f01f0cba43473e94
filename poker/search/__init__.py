"""Real-time solving: subgames with a depth limit, the values at their leaves, and nested re-solving."""
