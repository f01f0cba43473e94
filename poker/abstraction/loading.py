"""Loading of the buckets of a game: stored abstractions for hold'em, lossless buckets for small games."""

from pathlib import Path

from poker.abstraction.buckets import Buckets, CardAbstraction, SmallGameBuckets, is_holdem
from poker.game.rules import Rules
from poker.store.artifacts import recipe_at


def load_abstraction(path: str | Path) -> CardAbstraction:
    """Open the abstraction at a path.

    A bundle may contain only the recipe of an abstraction. It is then computed first, which takes minutes.

    Args:
        path: directory of the artifact.

    Raises:
        PokernetsError: the artifact is missing or damaged, or the recipe gives a different abstraction.
    """
    if (missing := recipe_at(Path(path))) is not None:
        from poker.abstraction.making import make_again  # noqa: PLC0415 (needed only when it is missing)

        make_again(*missing)
    return CardAbstraction.load(path)


def game_cards(rules: Rules, path: str | Path) -> Buckets:
    """Return the buckets of a game.

    Args:
        path: directory of a hold'em abstraction; ignored for small games, whose buckets are lossless.

    Raises:
        PokernetsError: the abstraction is missing or damaged, or has fewer streets than the game.
    """
    if is_holdem(rules):
        return load_abstraction(path).first_streets(rules.num_streets)
    return SmallGameBuckets(rules)
