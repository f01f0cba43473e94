"""The ACPC protocol: messages, logs, tables of cards and bets."""
