"""Post-flop spots: files, solutions on disk, and what is done at a decision."""
