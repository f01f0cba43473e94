"""The rest of a hand between two players, in the chips of the two alone."""

import numpy as np

from poker.game.rules import CALL, FOLD
from poker.game.state import Betting
from poker.search.multiplayer.heads_up_rest import HeadsUpRest
from tests.cases import cases
from tests.games import SIX

TURN = 2


@cases
def test_a_round_that_begins_with_two(text: str, begins: str | None) -> None:
    rest = HeadsUpRest.of(Betting.parse(SIX, text), TURN)
    assert (None if rest is None else rest.real_root) == (None if begins is None else Betting.parse(SIX, begins))


def test_chips_of_the_two_alone() -> None:
    """A third player left 225 in the pot of 1,275 chips: half of the pot is taken to be each player's."""
    real = Betting.parse(SIX, "fr225ffcc/cr525fc/cr1275r4000")
    rest = HeadsUpRest.of(real, TURN)
    assert rest is not None
    assert rest.players == (0, 1)
    alone = rest.betting(real)
    assert rest.root.committed == (637, 637)
    assert rest.root.rules.stacks == (637 + 10000 - 525,) * 2
    assert rest.players[alone.to_act] == real.to_act
    assert alone.to_call == real.to_call
    assert [rest.real(action) for action in alone.line] == [CALL, 1275, 4000]


def test_every_action_is_legal_in_both() -> None:
    rng, hands = np.random.default_rng(2), 0
    while hands < 200:
        real = Betting.start(SIX)
        while not real.is_over:
            rest = HeadsUpRest.of(real, 1)
            legal = real.legal()
            if rest is not None:
                hands += 1
                alone = rest.betting(real).legal()
                assert (alone.fold, alone.call) == (legal.fold, legal.call)
                totals = [alone.min_raise, alone.max_raise]
                assert [rest.real(total) for total in totals if total] == [
                    total for total in (legal.min_raise, legal.max_raise) if total
                ]
            room = legal.max_raise - legal.min_raise
            draw = rng.random()
            raised = legal.min_raise + int(room * rng.random() ** 6)
            real = real.apply(raised if legal.max_raise and draw < 0.3 else FOLD if legal.fold and draw > 0.6 else CALL)
