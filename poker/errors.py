"""Errors that a user can cause. Entry scripts print the message as one line and exit with status 2."""


class PokernetsError(Exception):
    """Base of all user-facing errors: the message says what was wrong, where, and what to do."""
