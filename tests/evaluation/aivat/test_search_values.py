"""AIVAT with values of solutions and of other functions: none biases estimates, by enumeration of small games."""

import pickle
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from conf.compose import build, compose
from poker.evaluation.aivat.heads_up import Aivat
from poker.evaluation.aivat.search_values import SearchValues
from poker.evaluation.aivat.value_functions import (
    DEFAULT,
    CheckDown,
    CheckDownValues,
    FoldEquityValues,
    ValueFunctionFactory,
    ValueFunctionSpec,
)
from poker.evaluation.matches.match_results import MatchResults
from poker.game.betting import Betting
from poker.game.cards import CanonicalBoard
from poker.game.rules import Rules
from poker.game.state import HandState, Policy, PolicyFunction, public_state
from poker.play.lineup import AgentSpec
from poker.solve.solution import DecisionValues, RoundValues
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BetMenu, build_tree
from tests.evaluation.aivat.test_heads_up import moments, wrong_values
from tests.evaluation.small_games import RandomPolicy, legal_actions
from tests.games import LEDUC, choices, load_rules
from tests.matches import play_match, randomly


class Solves(RandomPolicy):
    """Plays a solution to the end of the game, made at the start of each round for what both may hold by then."""

    def __init__(self, rules: Rules, iterations: int) -> None:
        super().__init__(rules, 0)
        self._solved_at = cache(self._solve)
        self._iterations = iterations

    def _solve(self, root: Betting, board: tuple[int, ...]) -> VectorSolver:
        ranges = np.tile(self._rules.space.live(board).astype(np.float32), (2, 1))
        state = Betting.start(self._rules)
        for action in root.actions[0] if root.street else ():
            actions, probs = self.policy(public_state(state, ()))
            ranges[state.to_act] *= probs[:, actions.index(action)] + 1e-6
            state = state.apply(action)
        solver = VectorSolver(VectorGame(build_tree(root, BetMenu(())), board, ranges), "cfr_plus")
        solver.run(iterations=self._iterations)
        return solver

    def _here(self, state: HandState) -> tuple[VectorSolver, tuple[int, ...]]:
        root = Betting.start(self._rules)
        for street in state.betting.actions[:-1]:
            for action in street:
                root = root.apply(action)
        return self._solved_at(root, state.board), state.betting.actions[-1]

    def policy(self, state: HandState) -> Policy:
        solver, path = self._here(state)
        probs = solver.strategy(solver.game.tree.find(path)).astype(np.float64)
        probs[probs.sum(axis=1) == 0] = 1.0
        return legal_actions(state.betting), probs / probs.sum(axis=1, keepdims=True)

    def solved_values(self, state: HandState, seat: int) -> DecisionValues:
        solver, path = self._here(state)
        values = RoundValues.of(solver.average_values(1 - seat))
        return DecisionValues(values, path, CanonicalBoard(state.board))


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("both", [True, False])
def test_unbiased_against_a_player_without_solves(game: str, seat: int, both: bool) -> None:
    rules = load_rules(game)
    solves = Solves(rules, 50)
    other = RandomPolicy(rules, 4)
    policies: list[RandomPolicy] = [other, other]
    policies[seat] = solves
    have_policy = (both or seat == 0, both or seat == 1)
    cached = cache(lambda state: solves.solved_values(state, seat))
    solved = [cached if player == seat else None for player in range(2)]
    factory = SearchValues(fallback=FoldEquityValues(), growth=[])
    responses = [policy.policy if responds else None for policy, responds in zip(policies, have_policy, strict=True)]
    value, mean, _ = moments(rules, policies, have_policy, factory(rules, responses, solved))
    assert mean == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
def test_little_variance_remains_when_both_play_the_solution(game: str) -> None:
    rules = load_rules(game)
    solves = Solves(rules, 500)
    cached = cache(lambda state: solves.solved_values(state, 1))
    aivat = SearchValues(fallback=FoldEquityValues(), growth=[])(rules, [solves.policy] * 2, [None, cached])
    value, mean, deviation = moments(rules, [solves, solves], (True, True), aivat)
    assert mean == pytest.approx(value, abs=1e-9)
    plain = FoldEquityValues()(rules, [solves.policy] * 2)
    assert deviation < 0.1 * moments(rules, [solves, solves], (True, True), plain)[2]


def test_missing_raises_are_valued_by_interpolation() -> None:
    rules = load_rules("leduc")
    values: dict[tuple[int, ...], NDArray[np.float32]] = {
        (4,): np.full(6, 1.0, np.float32),
        (8,): np.array([3, 3, 3, 3, 3, np.nan], np.float32),
    }
    decision = DecisionValues(RoundValues(rules, 1, values, {}), (), CanonicalBoard(()))
    for total, chips in ((2, 1.0), (4, 1.0), (5, 1.5), (8, 3.0), (9, 3.0)):
        after = decision.after(total)
        assert after is not None
        np.testing.assert_allclose(after, chips)
    assert decision.after(0) is None
    assert decision.dealt(4, 3) is None


def test_match_queries_the_agents_that_solve(tmp_path: Path) -> None:
    rules = load_rules("leduc")
    specs = [AgentSpec("solves", partial(Solves, rules, 50), {})]
    search = ValueFunctionSpec(partial(SearchValues, fallback=FoldEquityValues(), growth=[]), {"_target_": "search"})
    plain, solved = (
        play_match(
            tmp_path, rules, specs, lineups=[["solves"] * 2], hands=100, seed=2, aivat=True, values=values
        ).lineups[0]
        for values in (None, search)
    )
    assert solved.payoffs().tolist() == plain.payoffs().tolist()
    assert solved.sd_per_hand(aivat=True) < 0.2 * plain.sd_per_hand(aivat=True)
    assert not solved.unknown


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


def play(out: Path, values: ValueFunctionSpec | None, *, fresh: bool = False) -> MatchResults:
    agents = [AgentSpec("random", randomly, {})]
    lineups = [["random", "random"]]
    return play_match(out, LEDUC, agents, lineups=lineups, seed=3, aivat=True, values=values, fresh=fresh)


def test_estimates_by_different_value_functions_are_stored_apart(tmp_path: Path) -> None:
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
def test_every_option_composes_from_the_command_line(name: str) -> None:
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
