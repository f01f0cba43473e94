"""Irregularities that reading a hand tolerates and play refuses: files hold what happened, right or wrong."""

from poker.formats.played import PlayedHand
from poker.rules import FOLD

OUT_OF_TURN = "a fold out of turn"
FREE_FOLD = "a fold where checking is free"
NOT_REOPENED = "a raise that a short all-in did not reopen"
BEYOND_THE_POT = "a raise beyond the pot"
PASSED_OVER = "a player who is passed over, taken to check or fold"


def irregularities(hand: PlayedHand) -> frozenset[str]:
    """The kinds of actions in the hand that the rules of play refuse."""
    rules = hand.rules
    kinds = {PASSED_OVER} if hand.passed_over else set[str]()
    dead = sum(map(sum, rules.forced)) if rules.forced else 0
    for before, player, action in hand.state.betting.turns():
        if action == FOLD and player != before.to_act:
            kinds.add(OUT_OF_TURN)
        elif action == FOLD and not before.legal().fold:
            kinds.add(FREE_FOLD)
        elif action > 0:
            if not before.legal().allows(action):
                kinds.add(NOT_REOPENED)
            if rules.pot_limit and action > before.highest + before.pot + dead + before.to_call:
                kinds.add(BEYOND_THE_POT)
    return frozenset(kinds)
