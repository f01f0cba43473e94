"""Hands that PokerKit plays at random, for tests of the formats of hand histories."""

import random
from collections.abc import Iterator
from pathlib import Path

from pokerkit import Automation, FixedLimitTexasHoldem, HandHistory, NoLimitTexasHoldem, State

from poker.formats.played import PlayedHand

BY_HAND = {Automation.HOLE_CARDS_SHOWING_OR_MUCKING}
AUTOMATIONS = tuple(automation for automation in Automation if automation not in BY_HAND)

Antes = int | dict[int, int]


def simulated(
    rng: random.Random,
    players: int,
    antes: Antes = 0,
    trimmed: bool = False,
    limit: bool = False,
    blinds: tuple[int, ...] = (5, 10),
) -> tuple[HandHistory, State]:
    """One hand with unequal stacks, many of them short; losers may muck at the showdown."""
    ranges = [(1, 60), (50, 400), (300, 3000)]
    stacks = [rng.randint(*rng.choice(ranges)) for _ in range(players)]
    game: FixedLimitTexasHoldem | NoLimitTexasHoldem
    if limit:
        game = FixedLimitTexasHoldem(AUTOMATIONS, trimmed, antes, blinds, 10, 20)
    else:
        game = NoLimitTexasHoldem(AUTOMATIONS, trimmed, antes, blinds, 10)
    state = game(stacks, players)
    while state.status:
        draw = rng.random()
        if state.can_show_or_muck_hole_cards():
            state.show_or_muck_hole_cards()
        elif draw < 0.3 and state.can_complete_bet_or_raise_to():
            least = state.min_completion_betting_or_raising_to_amount
            most = state.max_completion_betting_or_raising_to_amount
            assert least is not None
            assert most is not None
            state.complete_bet_or_raise_to(rng.choice([least, most, rng.randint(least, most)]))
        elif draw < 0.45 and state.can_fold():
            state.fold()
        else:
            state.check_or_call()
    history = HandHistory.from_game_state(game, state)
    history.ante_trimming_status = trimmed
    return history, state


def dumped(path: Path, hands: int, seed: int, players: int = 6) -> list[tuple[int, ...]]:
    """Write a .phhs file with PokerKit and return the payoffs of its hands."""
    rng = random.Random(seed)
    random.seed(seed)  # PokerKit shuffles with the global generator
    histories, payoffs = [], []
    for number in range(hands):
        history, state = simulated(rng, players)
        history.hand = number
        histories.append(history)
        payoffs.append(tuple(state.payoffs))
    with path.open("wb") as file:
        HandHistory.dump_all(histories, file)
    return payoffs


def pokerkit_payoffs(text: str) -> Iterator[tuple[int, ...]]:
    """Payoffs by PokerKit of each hand of a .phhs text."""
    for history in HandHistory.loads_all(text):
        *_, end = history
        assert not end.status
        yield tuple(end.payoffs)


def assert_same_hand(hand: PlayedHand, wanted: PlayedHand, mucks: bool = True) -> None:
    """Assert equal stacks, play, cards and payoffs; logs of the ACPC do not record who mucked."""
    for name in ("number", "names", "payoffs", "rake") + ("mucked",) * mucks:
        assert getattr(hand, name) == getattr(wanted, name), name
    assert hand.state.hole_cards == wanted.state.hole_cards
    assert hand.state.board == wanted.state.board
    assert hand.state.betting.actions == wanted.state.betting.actions
    assert hand.state.betting.actors == wanted.state.betting.actors
    assert hand.rules.starting_stacks == wanted.rules.starting_stacks
    assert hand.rules.raise_sizes == wanted.rules.raise_sizes
    assert hand.rules.min_bet == wanted.rules.min_bet
