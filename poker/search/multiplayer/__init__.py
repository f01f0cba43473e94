"""Search with more than two players: a round of up to four by sampling, two players left by the vector solver."""
