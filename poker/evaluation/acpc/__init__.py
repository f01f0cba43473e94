"""The Annual Computer Poker Competition's table: our dealer, our client, and matches replayed from logs."""
