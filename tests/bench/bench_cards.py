"""Speed of cards: evaluator, board look-ups, exact features, deals. One core."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from poker.abstraction import features
from poker.abstraction.buckets import BOARD_SIZES, make_abstraction
from poker.abstraction.dealers import HoldemDealer
from poker.cards import NUM_HANDS, PREFLOP_CLASS, parse_cards
from poker.kernels.cards import strength
from poker.kernels.cards.isomorphism import NUM_BOARDS
from poker.kernels.cards.ranks import rank_board_hands, rank_hands
from poker.kernels.rng import streams
from tests.games import load_rules
from tests.kernels.cards.test_ranks import random_hands

REPEATS = 7


def seconds(call: Callable[[], Any]) -> float:
    """CPU time of the fastest of several runs, after one that compiles: what a core does, whoever else uses it."""
    call()
    times = []
    for _ in range(REPEATS):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)


def run() -> list[dict[str, Any]]:
    """Rows of `make bench`."""
    hands = {size: random_hands(1_000_000, size, 0) for size in (5, 7)}
    flop, river = parse_cards("AhKd7c"), np.array(parse_cards("AhKd7c2s9s"), dtype=np.uint8)
    board = np.array(flop, dtype=np.uint8)
    live = strength.live_hand_list(board)
    ranks = strength.completion_ranks(board, live)
    out = np.empty(NUM_HANDS, dtype=np.int16)

    def flop_features() -> None:
        features._counts.cache_clear()
        features._features.cache_clear()
        features.hand_features(flop)

    def many(call: Callable[[], Any]) -> Callable[[], None]:
        def hundred() -> None:
            for _ in range(100):
                call()

        return hundred

    rows: list[dict[str, Any]] = [
        {
            "name": f"evaluator_{n}_cards",
            "value": 1e-6 * len(h) / seconds(partial(rank_hands, h)),
            "unit": "M hands/s",
        }
        for n, h in hands.items()
    ]
    board_ranks = seconds(many(lambda: rank_board_hands(river)))
    board_strength = seconds(many(lambda: strength.board_strength_into(river, out)))
    rows += [
        {"name": "ranks_of_a_board", "value": 1e4 * board_ranks, "unit": "us"},
        {"name": "river_strength_of_a_board", "value": 1e4 * board_strength, "unit": "us"},
        {"name": "flop_features", "value": 1e3 * seconds(flop_features), "unit": "ms"},
        {
            "name": "flop_equity_matrix",
            "value": 1e3 * seconds(lambda: strength.count_wins(ranks, 0, len(live))),
            "unit": "ms",
        },
    ]
    return rows + _dealing()


def _dealing() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    tables = [rng.integers(0, 150, (NUM_BOARDS[n], NUM_HANDS), dtype=np.uint8) for n in BOARD_SIZES[1:]]
    cards = make_abstraction([PREFLOP_CLASS[None], *tables], (169, 150, 150, 150))
    dealer, stream, n = HoldemDealer(load_rules("holdem_nolimit_2p"), cards), streams(0, 1)[0], 100_000
    look_up = seconds(lambda: [cards.buckets((1, 2, 3, 40)) for _ in range(100)])
    return [
        {
            "name": "deals_2_players_4_streets",
            "value": 1e-6 * n / seconds(lambda: dealer.deal(stream, n)),
            "unit": "M/s",
        },
        {"name": "buckets_of_a_board", "value": 1e4 * look_up, "unit": "us"},
    ]
