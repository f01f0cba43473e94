"""Hands of Texas hold'em as Poker Hand History files (.phh, .phhs), the format of PokerKit.

A file of many hands (.phhs) is a sequence of TOML tables named 1, 2, ... Raises are totals of their street there, and
players are p1, p2, ... in seat order, with the blinds of a heads-up game given for the button first.
"""

import json
from collections.abc import Iterable
from itertools import chain, pairwise

from poker.errors import PokernetsError
from poker.formats.acpc_log import LoggedHand
from poker.rules import CALL, FOLD
from poker.state import Betting, HandState

_TEXAS = (0, 3, 1, 1)


def phh_text(hands: Iterable[LoggedHand]) -> str:
    """The text of a .phhs file."""
    return "\n".join(f"[{i}]\n{hand_text(hand)}" for i, hand in enumerate(hands, 1))


def hand_text(hand: LoggedHand) -> str:
    """The text of a .phh file: one finished hand with all hole cards known."""
    state = hand.state
    rules = state.rules
    if rules.deck_size != 52 or rules.num_hole_cards != 2 or rules.board_cards != _TEXAS:
        raise PokernetsError(f"a hand history of this kind holds Texas hold'em, not `{rules.name}`")
    blinds = rules.blinds[::-1] if rules.num_players == 2 else rules.blinds
    fields: dict[str, object] = {
        "variant": "FT" if rules.is_limit else "NT",
        "ante_trimming_status": True,
        "antes": [0] * rules.num_players,
        "blinds_or_straddles": list(blinds),
    }
    if rules.is_limit:
        fields |= {"small_bet": rules.raise_sizes[0], "big_bet": rules.raise_sizes[-1]}
    else:
        fields |= {"min_bet": rules.big_blind}
    fields |= {
        "starting_stacks": list(rules.stacks),
        "actions": _actions(state),
        "hand": hand.number,
        "players": list(hand.names),
    }
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())


def _actions(end: HandState) -> list[str]:
    rules = end.rules
    lines = [f"d dh p{i + 1} {rules.cards_text(cards)}" for i, cards in enumerate(end.hole_cards)]
    betting = Betting.start(rules)
    shown, before = 0, 0
    for action in chain.from_iterable(end.betting.actions):
        if rules.board_sizes[betting.street] > shown:
            before = max(betting.committed)
            lines += _board(end, shown, rules.board_sizes[betting.street])
            shown = rules.board_sizes[betting.street]
        player = f"p{betting.to_act + 1}"
        if action == FOLD:
            lines.append(f"{player} f")
        elif action == CALL:
            lines.append(f"{player} cc")
        else:
            lines.append(f"{player} cbr {action - before}")
        betting = betting.apply(action)
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
    """Who shows his cards, in order: all who did not fold, the last to raise on the last street first."""
    last = len(betting.actions) - 1
    raisers = [actor for actor, action in zip(betting.actors[last], betting.actions[last], strict=True) if action > 0]
    first = raisers[-1] if raisers else betting.rules.first_player[last]
    players = betting.rules.num_players
    return [i for i in ((first + k) % players for k in range(players)) if not betting.folded[i]]
