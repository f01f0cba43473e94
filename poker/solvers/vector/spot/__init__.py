"""Post-flop spots: files, solutions on disk, and what players do at a decision."""
