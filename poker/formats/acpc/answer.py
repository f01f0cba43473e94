"""Answers to a dealer, read like the competition's dealer reads them: the match state, `:` and an action.

The competition's dealer reads numbers, actions and cards one by one, and compares them with the state that it sent. So
it accepts several variations:

- `/` may be missing, or stand anywhere in the betting.
- `k` and `b` mean `c` and `r`, and letters may be upper or lower case.
- Zeros or blanks may precede numbers.
- Other players' cards may be filled in.
- Text after the action, and sizes of actions that have none, are ignored.
"""

import re

from poker.formats.acpc.log import board_texts, match_state_text
from poker.game.rules import CALL, FOLD
from poker.game.state import Betting, HandState, IllegalAction

MOST_ACTIONS = 64
"""Largest number of actions in one round that the competition's programs support."""

_BLANKS = r"[ \t-\r]*"
_NUMBER = _BLANKS + r"\+?0*"
_LETTERS = {FOLD: "[fF]", CALL: "[cCkK]"}
_CARD = "(?i:[2-9TJQKA][cdhs])"
_ACTION = re.compile(rf"([fckrb])(?:{_BLANKS}([+-]?)0*([0-9]{{1,18}}))?", re.IGNORECASE)
"""Pattern of an action; the first 18 digits of a longer size already exceed any stack."""


def answered_action(state: HandState, number: int, line: str) -> str | None:
    """Return the text after the state in a player's answer.

    Args:
        number: number of the hand.
        line: answer of the player to act.

    Returns:
        The text, empty if there is none; None if `line` does not answer this state.
    """
    question = f"{match_state_text(state, number, state.to_act)}:"
    if line.startswith(question):
        return line[len(question) :]
    match = _pattern(state, number).match(line)
    if match is None:
        return None
    rest = line[match.end() :]
    return rest[1:] if rest.startswith(":") else ""


def read_action(betting: Betting, text: str) -> int:
    """Read an action; raises of an illegal size become the nearest legal one.

    Args:
        text: the action.

    Returns:
        FOLD, CALL or a raise-to total.

    Raises:
        IllegalAction: the text is not a legal action. The dealer then calls for the player.
    """
    match = _ACTION.match(text)
    if match is None:
        raise IllegalAction(f"`{text[:100]}` is not an action: expected f, c or r")
    letter, size = match[1].lower(), None if match[3] is None else match[2] + match[3]
    if letter == "f":
        action = FOLD
    elif letter in "ck":
        action = CALL
    else:
        action = _raise_total(betting, size)
    betting.apply(action)
    return action


def _raise_total(betting: Betting, size: str | None) -> int:
    legal = betting.legal()
    if len(betting.actions[-1]) + betting.rules.num_players > MOST_ACTIONS:
        raise IllegalAction(f"no raise after {len(betting.actions[-1])} actions of one round")
    if betting.rules.is_limit:
        return legal.min_raise or betting.parse_action("r")
    if size is None:
        raise IllegalAction("a raise in a no-limit game needs its total: r<total>")
    total = max(1, int(size))
    return min(max(total, legal.min_raise), legal.max_raise) if legal.max_raise else total


def _pattern(state: HandState, number: int) -> re.Pattern[str]:
    """Return the pattern of the start of an answer to `state`."""
    rules, player = state.rules, state.to_act
    betting = "/*".join(
        _LETTERS.get(action) or ("[rRbB]" if rules.is_limit else rf"[rRbB]{_NUMBER}{action}(?![0-9])")
        for action in state.betting.line
    )
    others = f"(?>{_CARD}{{{rules.num_hole_cards}}}|(?!{_CARD}))"
    hands = [others] * rules.num_players
    hands[player] = f"(?i:{rules.cards_text(state.hole_cards[player])})"
    cards = r"\|?+".join(hands) + "/?".join(f"(?i:{street})" for street in board_texts(state))
    return re.compile(rf"MATCHSTATE:{_NUMBER}{player}:{_NUMBER}{number}:/*{betting}/*:{cards}")
