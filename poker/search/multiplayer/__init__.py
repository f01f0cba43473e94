"""Search with more than two players: rounds of up to four players by sampling, two players by the vector solver."""
