"""Spots of hold'em: a pot, stacks, ranges and bets, solved, shown, walked through."""
