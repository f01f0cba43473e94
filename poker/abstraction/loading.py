"""The buckets of a game: a stored abstraction for hold'em, lossless buckets for small games."""

from pathlib import Path

from poker.abstraction.buckets import Buckets, CardAbstraction, SmallGameBuckets, is_holdem
from poker.game.rules import Rules
from poker.store.artifacts import recipe_at


def load_abstraction(path: str | Path) -> CardAbstraction:
    """Open the abstraction at `path`, made again first where a bundle has only its recipe, which takes minutes."""
    if (missing := recipe_at(Path(path))) is not None:
        from poker.abstraction.making import make_again  # noqa: PLC0415 (what those who have it do without)

        make_again(*missing)
    return CardAbstraction.load(path)


def game_cards(rules: Rules, path: str | Path) -> Buckets:
    """The abstraction at `path` for hold'em games, cut to their streets; the lossless one for small games."""
    if is_holdem(rules):
        return load_abstraction(path).first_streets(rules.num_streets)
    return SmallGameBuckets(rules)
