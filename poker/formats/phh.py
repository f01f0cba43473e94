"""Hands of Texas hold'em as Poker Hand History files (.phh, .phhs), the format of PokerKit.

A file of many hands (.phhs) is a sequence of TOML tables named 1, 2, ... Raises are totals of their street there, and
players are p1, p2, ... in seat order, with the blinds of a heads-up game given for the button first. Cards that the
writer did not see are `??`. Only games that the format has a variant for can be written: no-limit (NT) and limit (FT).
"""

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from poker.artifacts import written_atomically
from poker.errors import PokernetsError
from poker.formats.acpc_log import LoggedHand
from poker.rules import CALL, FOLD, Rules
from poker.state import Betting, HandState

_TEXAS = (0, 3, 1, 1)
_MOST_RAISES = 4
"""Raises of a street in PokerKit's limit games."""


def unwritable(rules: Rules) -> str:
    """Why hands of this game cannot be written, empty if they can."""
    if rules.deck_size != 52 or rules.num_hole_cards != 2 or rules.board_cards != _TEXAS:
        return f"poker hand histories hold Texas hold'em here, not `{rules.name}`"
    small, big = rules.blinds[:2] if rules.num_players > 2 else rules.blinds[::-1]
    first = 1 if rules.num_players == 2 else 2 % rules.num_players
    if not 0 <= small <= big or not big or any(rules.blinds[2:]) or rules.first_player != (first, 0, 0, 0):
        return (
            f"poker hand histories have a small and a big blind, and the next player begins: not so in `{rules.name}`"
        )
    sizes, caps = rules.raise_sizes, rules.max_raises
    if rules.is_limit and (sizes[0] != sizes[1] or sizes[2] != sizes[3] or max(caps) > _MOST_RAISES):
        return f"poker hand histories of limit games have one bet, then another, and 4 raises: not so in `{rules.name}`"
    return ""


def write_phhs(path: Path, hands: Iterable[LoggedHand]) -> None:
    """Writes a .phhs file hand by hand; an error leaves what was there."""
    with written_atomically(path) as file:
        for text in phhs_texts(hands):
            file.write(text.encode())


def phhs_texts(hands: Iterable[LoggedHand]) -> Iterator[str]:
    """The text of a .phhs file, a piece for every hand."""
    for number, hand in enumerate(hands, 1):
        yield ("\n" if number > 1 else "") + f"[{number}]\n{hand_text(hand)}"


def hand_text(hand: LoggedHand) -> str:
    """The text of a .phh file: one finished hand."""
    state = hand.state
    rules = state.rules
    why_not = unwritable(rules)
    if why_not:
        raise PokernetsError(why_not)
    blinds = rules.blinds[::-1] if rules.num_players == 2 else rules.blinds
    bets = {"min_bet": rules.big_blind}
    if rules.is_limit:
        bets = {"small_bet": rules.raise_sizes[0], "big_bet": rules.raise_sizes[-1]}
    fields = {
        "variant": "FT" if rules.is_limit else "NT",
        "ante_trimming_status": True,
        "antes": [0] * rules.num_players,
        "blinds_or_straddles": blinds,
        **bets,
        "starting_stacks": rules.stacks,
        "actions": _actions(state),
        "hand": hand.number,
        "players": hand.names,
    }
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())


def _actions(end: HandState) -> list[str]:
    rules, betting = end.rules, end.betting
    unseen = "??" * rules.num_hole_cards
    lines = [f"d dh p{i + 1} {rules.cards_text(cards) or unseen}" for i, cards in enumerate(end.hole_cards)]
    shown = earlier = 0
    highest = max(map(min, rules.blinds, rules.stacks))
    for street, actions in enumerate(betting.actions):
        if street:
            earlier = highest
        if actions:
            lines += _board(end, shown, rules.board_sizes[street])
            shown = rules.board_sizes[street]
        for player, action in zip(betting.actors[street], actions, strict=True):
            if action == FOLD:
                lines.append(f"p{player + 1} f")
            elif action == CALL:
                lines.append(f"p{player + 1} cc")
            else:
                lines.append(f"p{player + 1} cbr {action - earlier}")
                highest = action
    if betting.is_showdown:
        lines += _board(end, shown, len(end.board))
        lines += [f"p{i + 1} sm {rules.cards_text(end.hole_cards[i])}" for i in _showing(betting)]
    return lines


def _board(end: HandState, shown: int, size: int) -> list[str]:
    """The deals that bring the board from `shown` to `size` cards, street by street."""
    rules = end.rules
    sizes = [shown, *(cards for cards in rules.board_sizes if shown < cards <= size)]
    return [f"d db {rules.cards_text(end.board[a:b])}" for a, b in pairwise(sizes)]


def _showing(betting: Betting) -> list[int]:
    """Who shows cards, in order: all who did not fold, the last to raise on the last street first."""
    last = len(betting.actions) - 1
    raisers = [actor for actor, action in zip(betting.actors[last], betting.actions[last], strict=True) if action > 0]
    first = raisers[-1] if raisers else betting.rules.first_player[last]
    players = betting.rules.num_players
    return [i for i in ((first + k) % players for k in range(players)) if not betting.folded[i]]
