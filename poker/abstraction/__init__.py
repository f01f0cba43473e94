"""Values of hands on a board, and buckets of hands that are played alike."""
