"""Actions that our client draws at a dealer are as frequent as its notes of the hands held say."""

import math
import random
from pathlib import Path

import numpy as np

from poker.abstraction.buckets import game_cards
from poker.agents.base import PolicyAgent, hand_number
from poker.agents.blueprint import BlueprintAgent
from poker.formats.acpc.log import match_state_text
from poker.game.rules import Rules
from poker.game.state import HandState
from poker.play.network.client import DealerSeat
from poker.play.notes import Notes
from poker.tree import build_tree
from tests.blueprints import random_blueprint
from tests.games import LEDUC
from tests.random_play import random_action


def scores(game: Rules, agent: PolicyAgent, seed: int, hands: int, folder: Path) -> dict[str, tuple[float, int]]:
    """How many standard deviations more of a kind of action were drawn than the notes say, and in how many decisions.

    Over `hands` hands against random play, in seats that change. The likeliest action is one of the kinds.
    """
    seat = DealerSeat(game, agent, seed, folder / f"{seed}.log", lambda what: None)
    cards, rng = np.random.default_rng([seed, 1]), random.Random(seed)
    drawn: list[tuple[tuple[int, int, str], int, int]] = []
    for number in range(hands):
        state, me = HandState.deal(game, cards), number % 2
        while not state.is_over:
            line = match_state_text(state.view(me), number, me)
            answer = seat.answer(line)
            if state.to_act == me:
                assert answer is not None
                action = state.betting.parse_action(answer.removeprefix(f"{line}:"))
                drawn.append(((number, me, state.betting.text()), hand_number(state, me), action))
            else:
                action = random_action(state.legal(), rng)
            state = state.apply(action)
        seat.answer(match_state_text(state.view(me), number, me))
    assert not seat.failures
    notes = Notes.read(seat.notes)
    sums = {name: [0.0, 0.0] for name in ("fold", "call", "raise", "likeliest")}
    for decision, held, action in drawn:
        actions, probs = notes.policy(decision)
        row = probs[held] / probs[held].sum()
        assert row[actions.index(action)] > 0
        signs = np.sign(actions)
        kinds = signs == -1, signs == 0, signs == 1, np.arange(len(actions)) == row.argmax()
        for into, kind in zip(sums.values(), kinds, strict=True):
            p = float(row[kind].sum())
            into[0] += bool(kind[actions.index(action)]) - p
            into[1] += p * (1 - p)
    return {name: (more / math.sqrt(variance), len(drawn)) for name, (more, variance) in sums.items()}


def test_actions_are_drawn_as_they_are_noted(tmp_path: Path) -> None:
    """A random blueprint of Leduc. Over 10 seeds of 10,000 decisions each the same sums gave the z scores that
    docs/results/dealer tells."""
    start = HandState.deal(LEDUC, np.random.default_rng(0)).betting
    blueprint = random_blueprint(build_tree(start), game_cards(LEDUC, ""))
    agent = BlueprintAgent(name="blueprint", blueprint=blueprint, translation_seed=0)
    for z, decisions in scores(LEDUC, agent, 1, 300, tmp_path).values():
        assert decisions > 500
        assert abs(z) < 3.5
