"""Small games and the reference spots for solver tests."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from poker.formats.ranges import parse_range
from poker.game.cards import parse_cards
from poker.game.rules import Rules
from poker.solvers.best_response.ranges import RangePolicy
from poker.solvers.vector.game import VectorGame
from poker.tree import BettingTree
from poker.tree.spots import spot_tree
from tests.games import load_rules

SPOTS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "spots.json").read_text())["spots"]
ORACLES: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "oracles.json").read_text())


def kuhn() -> Rules:
    return load_rules("kuhn")


def leduc() -> Rules:
    return load_rules("leduc")


def small_holdem(ranks: int = 4, stack: int = 12) -> Rules:
    """Two hole cards, a one-card flop and a one-card turn from a deck of 4 * 2 cards; no-limit."""
    return Rules("small", 2, "nolimit", (1, 2), (stack, stack), (), (), (0, 1, 1), 2, ranks, 2, (0, 1, 1))


def spot_game(name: str, cards: int | None = None, **options: Any) -> VectorGame:
    config = dict(SPOTS[name]["config"])
    ranges = np.stack([parse_range(config.pop("oop_range")), parse_range(config.pop("ip_range"))])
    board, pot, stack = parse_cards(config.pop("board"))[:cards], int(config.pop("pot")), int(config.pop("stack"))
    return VectorGame(spot_tree(len(board), pot, stack, config), board, ranges, **options)


def some_model(tree: BettingTree, seed: int = 1) -> RangePolicy:
    """A random strategy that treats suits alike."""
    rules = tree.rules
    ranks = rules.space.hand_cards // rules.num_suits
    alike = ranks @ rules.num_ranks ** np.arange(rules.num_hole_cards)

    def model(node: int, board: tuple[int, ...]) -> np.ndarray:
        rng = np.random.default_rng([seed, node, *(1 + card // rules.num_suits for card in board)])
        rows = rng.random((rules.num_ranks**rules.num_hole_cards, int(tree.num_children[node]))) ** 3
        return np.asarray((rows / rows.sum(axis=1, keepdims=True))[alike])

    return model
