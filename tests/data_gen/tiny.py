"""A blueprint of flop hold'em that is made in a second: coarse random buckets, little training."""

from pathlib import Path

import numpy as np

from poker.abstraction.buckets import make_abstraction
from poker.game.cards import NUM_HANDS, PREFLOP_CLASS
from tests.data_gen.commands import data_gen

FLOP_BUCKETS = 3


def tiny_blueprint(folder: Path) -> tuple[str, ...]:
    """Makes abstraction and blueprint under `folder`; returns the overrides that every further job needs."""
    rng = np.random.default_rng(0)
    flops = rng.integers(0, FLOP_BUCKETS, (1755, NUM_HANDS)).astype(np.uint8)
    tables = (PREFLOP_CLASS[None] % 8, flops)
    make_abstraction(tables, (8, FLOP_BUCKETS)).save(folder / "abstraction", {"test": True})
    menu = ("bets.preflop=[[1],[a]]", "bets.flop=[[1,a],[a]]")
    common = ("game=flop_holdem_nolimit", *menu, f"artifacts={folder}", f"runs={folder}/runs")
    data_gen("job=blueprint", "job.iterations=2000", *common)
    return common
