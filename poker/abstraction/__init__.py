"""What hands are worth on a board, and buckets of hands that are played alike."""
