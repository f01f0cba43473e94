"""The choice between value functions of AIVAT: none biases the estimates."""

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from conf.compose import build, compose
from poker.agents.simple import RandomAgent
from poker.evaluation.aivat.heads_up import Aivat
from poker.evaluation.aivat.value_functions import (
    DEFAULT,
    CheckDown,
    CheckDownValues,
    FoldEquityValues,
    ValueFunctionFactory,
    ValueFunctionSpec,
)
from poker.evaluation.matches.match_results import MatchResults
from poker.game.rules import Rules
from poker.game.state import PolicyFunction
from poker.play.lineup import AgentSpec
from tests.evaluation.aivat.test_heads_up import moments, wrong_values
from tests.evaluation.small_games import RandomPolicy
from tests.games import LEDUC, choices, load_rules
from tests.matches import play_match


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
@pytest.mark.parametrize("have_policy", [(True, True), (True, False)])
@pytest.mark.parametrize("guess", [CheckDownValues, FoldEquityValues])
def test_every_guess_is_unbiased(
    game: str, have_policy: tuple[bool, bool], guess: Callable[[], ValueFunctionFactory]
) -> None:
    rules = load_rules(game)
    policies = [RandomPolicy(rules, 1), RandomPolicy(rules, 2)]
    others = [RandomPolicy(rules, 11).policy, None]
    value, mean, _ = moments(rules, policies, have_policy, guess()(rules, others))
    assert mean == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("have_policy", [(True, True), (True, False), (False, True)])
def test_actions_may_be_judged_by_anything_if_cards_are_judged_by_equity(have_policy: tuple[bool, bool]) -> None:
    policies = [RandomPolicy(LEDUC, 1), RandomPolicy(LEDUC, 2)]
    aivat = Aivat(LEDUC, wrong_values(LEDUC), CheckDown(LEDUC))
    value, mean, _ = moments(LEDUC, policies, have_policy, aivat)
    assert mean == pytest.approx(value, abs=1e-9)


class Counting:
    """Factory of check-down estimators that counts them."""

    given = 0

    def __call__(self, rules: Rules, responses: Sequence[object], solved: Sequence[object] = ()) -> Aivat:
        Counting.given += 1
        return Aivat(rules, CheckDown(rules))


def randomly() -> RandomAgent:
    return RandomAgent(name="random", raises=[1])


def play(out: Path, values: ValueFunctionSpec | None, *, fresh: bool = False) -> MatchResults:
    agents = [AgentSpec("random", randomly, {})]
    lineups = [["random", "random"]]
    return play_match(out, LEDUC, agents, lineups=lineups, seed=3, aivat=True, values=values, fresh=fresh)


def test_estimates_of_different_guesses_are_kept_apart(tmp_path: Path) -> None:
    checked = ValueFunctionSpec(Counting, {"_target_": "counting"})
    Counting.given = 0
    plain, other = play(tmp_path, None), play(tmp_path, checked)
    assert Counting.given == 40
    hands = tmp_path / "leduc" / "hands"
    assert len(list(hands.glob("*.aivat.jsonl"))) == 2
    [commits] = hands.glob("*.commits.jsonl")
    assert len(commits.read_text().splitlines()) == 1  # estimated from the log, not played again
    chips = [result.lineups[0].values().tolist() for result in (plain, other)]
    assert chips[0] == chips[1]
    estimates = [result.lineups[0].values(aivat=True).tolist() for result in (plain, other)]
    assert estimates[0] != estimates[1]
    again = [play(tmp_path, values).lineups[0] for values in (ValueFunctionSpec(FoldEquityValues, DEFAULT), checked)]
    assert [table.values(aivat=True).tolist() for table in again] == estimates
    assert [table.kept for table in again] == [40, 40]
    assert Counting.given == 40
    play(tmp_path, None, fresh=True)
    assert len(list((tmp_path / "leduc" / "hands").glob("*.aivat.jsonl"))) == 1


class Recording:
    """`FoldEquityValues` that records the policies it is given."""

    def __init__(self) -> None:
        self.responses: set[object] = set()

    def __call__(
        self, rules: Rules, responses: Sequence[PolicyFunction | None], solved: Sequence[object] = ()
    ) -> Aivat:
        self.responses.update(responses)
        return FoldEquityValues()(rules, responses)


def test_policies_of_an_agent_are_the_same_from_hand_to_hand(tmp_path: Path) -> None:
    recording = Recording()
    play(tmp_path, ValueFunctionSpec(lambda: recording, {"_target_": "recording"}))
    assert len(recording.responses) == 2


@pytest.mark.parametrize("name", choices("values"))
def test_every_choice_is_known_to_the_command_line(name: str) -> None:
    spec = build(compose("evaluate", ["evaluate=match", f"values={name}"]).evaluate["values"])
    assert (spec.mark is None) == (name == "fold_equity")
    assert str(spec.settings["_target_"]).startswith("poker.evaluation.aivat.")


def test_a_guess_is_built_once_and_travels_unbuilt() -> None:
    spec = ValueFunctionSpec(CheckDownValues, {"_target_": "x"})
    assert spec() is spec()
    assert spec.mark == {"_target_": "x"}
    copy = pickle.loads(pickle.dumps(spec))
    assert copy() is not spec()
    assert ValueFunctionSpec(FoldEquityValues, DEFAULT).mark is None
