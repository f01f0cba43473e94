"""People's frequencies from rows, at our tables."""

import numpy as np
import pytest

from data_gen.opponent_actions import ActionRows
from data_gen.support.sources import ObservedHand
from poker.agents.modelled import ModelledAgent
from poker.agents.simple import RandomAgent
from poker.game.cards import HOLDEM
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState
from poker.opponents.habits import of_rows
from poker.opponents.inputs.no_limit import spot_of
from poker.opponents.inputs.rows import write_rows
from poker.play.hand import play_hand
from poker.run.errors import PokernetsError
from tests.games import HEADS_UP as RULES


class Folder(RandomAgent):
    """Folds to every bet."""

    def _weights(self, state: HandState) -> dict[int, float]:
        return {FOLD if state.legal().fold else CALL: 1.0}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Hands of two who play on and of two who fold."""
    path, hands = tmp_path_factory.mktemp("people") / "opponent_actions", []
    players = [kind(name=name, raises=[0.5, 1]) for kind in (RandomAgent, Folder) for name in "ab"]
    names = ["loose a", "loose b", "tight a", "tight b"]
    for seed, player in enumerate(players):
        player.reset(seed)
    for number in range(80):
        seats = (number // 2 % 2, 2 + number % 2)[:: -1 if number % 5 else 1]
        end = play_hand([players[i] for i in seats], HandState.deal(RULES, np.random.default_rng(number)))
        done = [(past, end.runout[: RULES.board_sizes[past.street]], action) for past, _, action in end.betting.turns()]
        hands.append(ObservedHand(number, tuple(names[i] for i in seats), done))
    made = ActionRows.of(hands)
    write_rows(path, made.columns, made.names, config={"betting": "nolimit"}, made_from={}, counts={})
    return str(path)


def test_people_by_name_and_by_how_many_hands_they_play(rows: str) -> None:
    loose, tight = (of_rows(rows=rows, voluntary=between) for between in ((0.6, 1.0), (0.0, 0.6)))
    facing_bet = [each.counts[0, 1:].sum(axis=(0, 1, 2, 3)) for each in (loose, tight)]
    assert facing_bet[1][CALL + 1 :].sum() == 0 == tight.sizes.sum()  # who folds never calls or raises a bet
    assert facing_bet[0][1:].min() > 0
    assert loose.sizes.sum() == loose.counts[..., 2].sum() > 0
    one, other = (of_rows(rows=rows, player=f"loose {name}") for name in "ab")
    np.testing.assert_array_equal(one.counts + other.counts, loose.counts)
    assert 0 < of_rows(rows=rows, voluntary=(0.6, 1.0), last=0.25).counts.sum() < loose.counts.sum()
    with pytest.raises(PokernetsError, match="no no-limit hands of nobody"):
        of_rows(rows=rows, player="nobody")


def test_range_at_a_decision_acts_with_the_frequencies_of_the_model(rows: str) -> None:
    model = of_rows(rows=rows, voluntary=(0.6, 1.0))
    agent = ModelledAgent(name="loose", model=model, raises=[0.5, 1.0, "a"])
    state = HandState.deal(RULES, np.random.default_rng(1))
    weights = np.ones(RULES.num_hands)
    _check(agent, model.frequencies[spot_of(state.betting)], state, weights)
    actions, probs = agent.policy(state)
    weights *= probs[:, actions.index(CALL)]
    state = state.apply(CALL).apply(CALL)  # the flop
    state = state.apply(min(size for size in agent.policy(state)[0] if size > 0))
    assert state.board
    assert state.to_act == 1
    _check(agent, model.frequencies[spot_of(state.betting)], state, weights * HOLDEM.live(state.board))


def _check(agent: ModelledAgent, wanted: np.ndarray, state: HandState, weights: np.ndarray) -> None:
    actions, probs = agent.policy(state)
    live = HOLDEM.live(state.board)
    np.testing.assert_allclose(probs[live].sum(axis=1), 1, atol=1e-5)
    mean = weights @ probs / weights.sum()
    raises = sum(mean[at] for at, action in enumerate(actions) if action > 0)
    folds = mean[actions.index(FOLD)] if FOLD in actions else 0.0
    np.testing.assert_allclose((folds, mean[actions.index(CALL)], raises), wanted, atol=0.02)
