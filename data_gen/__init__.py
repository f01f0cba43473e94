"""Jobs that make artifacts. Each job can be resumed, is seeded, and writes one artifact."""
