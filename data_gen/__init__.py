"""Jobs that make artifacts. Each is resumable, seeded, and writes one artifact."""
