"""Hands being played: line-ups, the loop that plays a hand, sessions and workers, stored hands, dealer and client."""
