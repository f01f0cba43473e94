"""Games with any stacks, and random play, for tests."""

import random
from collections.abc import Sequence

import numpy as np

from poker.formats.acpc.log import payoffs_of_pokerkit
from poker.formats.played import table_rules
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Legal
from tests.games import choices

GAMES = [name for name in choices("game") if name != "acpc"]
"""All games of `conf/game` but the one that is read from a file."""


def nolimit(stacks: tuple[int, ...], big_blind: int = 100) -> Rules:
    """No-limit hold'em with any stacks; heads-up player 1 is the button."""
    players = len(stacks)
    small_blind = big_blind // 2
    heads_up = players == 2
    return Rules(
        name=f"nolimit {players}p",
        num_players=players,
        betting="nolimit",
        blinds=(big_blind, small_blind) if heads_up else (small_blind, big_blind) + (0,) * (players - 2),
        stacks=stacks,
        raise_sizes=(),
        max_raises=(),
        first_player=(1 if heads_up else 2 % players, 0, 0, 0),
        num_suits=4,
        num_ranks=13,
        num_hole_cards=2,
        board_cards=(0, 3, 1, 1),
    )


def random_action(legal: Legal, rng: random.Random) -> int:
    """Calls half of the time; raises are often the least, the most or just above the least allowed."""
    draw = rng.random()
    if legal.max_raise and draw < 0.35:
        anywhere = rng.randint(legal.min_raise, legal.max_raise)
        near = min(legal.max_raise, legal.min_raise + rng.randint(0, 200))
        return rng.choice([legal.min_raise, legal.max_raise, anywhere, near])
    return FOLD if legal.fold and draw < 0.5 else CALL


def random_hand(rules: Rules, cards: np.random.Generator, rng: random.Random) -> list[HandState]:
    """All states of a hand, the last one over."""
    states = [HandState.deal(rules, cards)]
    while not states[-1].is_over:
        states.append(states[-1].apply(random_action(states[-1].legal(), rng)))
    return states


def posted_is_called(rules: Rules) -> Rules:
    """Rules of the game in which an all-in big blind's short post is all there is to call, as in PokerKit."""
    return table_rules(
        blinds=rules.blinds, starting_stacks=rules.stacks, min_bet=rules.big_blind, first_to_act=rules.first_player[0]
    )


def pokerkit_pays(theirs: Sequence[float], end: HandState) -> bool:
    """Whether these are PokerKit's payoffs: by TDA rule 21 each pot is split by itself, where PokerKit 0.7.7 puts pots
    with the same winners together and gives their first winner all odd chips."""
    return list(theirs) == payoffs_of_pokerkit(end)
