"""Hands from files."""

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from poker.formats import histories
from poker.formats.played import HistoryError, PlayedHand
from poker.game.cards import cards_text
from poker.kernels.types import Columns
from poker.opponents.profiles import profile_columns, profiles


def read_hands(file: str | Path, errors: list[HistoryError] | None = None) -> Iterator[PlayedHand]:
    """Read the hands of a file one by one, in any format of docs/commands.md, and check each against the rules.

    Args:
        errors: list that receives a HistoryError (`path`, `line`, `reason`) for each hand that cannot be read. Without
            a list each of them is a warning.

    Raises:
        HistoryError: the file has no hands of any format.
    """
    return histories.read_hands(Path(file), refused=_warn if errors is None else errors.append)


def _warn(error: HistoryError) -> None:
    warnings.warn(str(error), stacklevel=3)


def hands_table(hands: Iterable[PlayedHand]) -> Columns:
    """Return a table with a row for each player of each hand.

    Returns:
        columns `number` of the hand, `player`, `seat` (0 posts the first blind), number of `players`, `cards` (empty
        where hidden), `board`, `betting` in ACPC's letters, and in big blinds `stack_bb` and `net_bb`, the chips won
        minus the chips lost after the rake. Each column has one value per row.
    """
    rows: list[dict[str, Any]] = [
        {
            "number": hand.number,
            "player": name,
            "seat": seat,
            "players": hand.rules.num_players,
            "cards": cards_text(hand.state.hole_cards[seat]),
            "board": cards_text(hand.state.board),
            "betting": hand.state.betting.text(),
            "stack_bb": hand.rules.starting_stacks[seat] / hand.rules.big_blind,
            "net_bb": hand.payoffs[seat] / hand.rules.big_blind,
        }
        for hand in hands
        for seat, name in enumerate(hand.names)
    ]
    return {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}


def profiles_table(hands: Iterable[PlayedHand]) -> Columns:
    """Return a table with a row of statistics for each player, those with the most hands first.

    Returns:
        columns `player`, `hands`, and the shares `vpip`, `pfr`, `three_bet`, `c_bet`, `fold_to_c_bet` and `wtsd`; NaN
        where there was no opportunity. Each share has its counts, such as `vpip_did` of `vpip_of`. The aggression
        factor `af` is `af_did` bets and raises over `af_of` calls after the flop.
    """
    return profile_columns(profiles(hands))
