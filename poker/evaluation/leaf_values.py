"""`evaluate=leaf_values`: leaf evaluators compared with rollouts, on the states and with the ranges of play.

An agent plays against itself, sometimes with a raise of any size. At the end of a round that it solves to a depth
limit, the ranges are those that its solves need.

For hands of one player, half of them drawn from the range and half uniformly, the reference gives their values against
the other range under every continuation. It is the exact expectation over the betting, averaged over `runouts` complete
boards. If the blueprint's tree lacks a pot, the nearest one is used (`poker.depth_limit.leaves.blueprint_states`).

An evaluator's error is its value minus the reference, in pots. The reference's own error is half the difference between
the two halves of its boards.

Symbols: H hands, n hands of a state, K continuations, S states.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from poker.abstraction.dealers import sample_boards
from poker.abstraction.equities import showdown_equity
from poker.agents.base import Agent, require_policy
from poker.depth_limit.continuations.forms import Biased
from poker.depth_limit.continuations.rollout import Continuations
from poker.depth_limit.evaluator import LeafEvaluator, matched_pot
from poker.depth_limit.leaves.blueprint_states import BlueprintStates
from poker.depth_limit.leaves.off_tree import any_raise
from poker.game.beliefs import observe_action, observe_board, start_ranges
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, CanonicalBoard
from poker.game.rules import STREET_NAMES, Rules
from poker.game.state import HandState, public_state
from poker.kernels.types import I64, Board, Floats, Ranges, Singles
from poker.play.lineup import AgentSpec
from poker.report import Figure, Report, Section, Table
from poker.report.charts import intervals
from poker.report.estimates import Estimate, estimate
from poker.run.errors import PokernetsError
from poker.run.parallel import Cluster, Work
from poker.run.progress import progress_bars
from poker.solvers.blueprint import Blueprint
from poker.store.artifacts import fingerprint_of_settings
from poker.store.lines import JsonLines

PREFLOP, FLOP = 0, 1
_DELTA = 1.0
"""Error in pots from which the Huber loss is linear, as in published figures."""


@dataclass(frozen=True)
class SampleSettings:
    """Settings of the sample.

    Attributes:
        seed: seed of the states.
        states: number of states per street.
        streets: streets to measure.
        hands: number of hands per state.
        runouts: number of complete boards per state.
        odd_raises: share of raises that are replaced by a raise of any size.
    """

    seed: int
    states: int
    streets: tuple[int, ...]
    hands: int
    runouts: int
    odd_raises: float

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            PokernetsError: a number is too small, or a street is neither 0 nor 1.
        """
        if min(self.states, self.hands // 2, self.runouts // 2) < 1 or not set(self.streets) <= {PREFLOP, FLOP}:
            raise PokernetsError("evaluate=leaf_values needs states, 2 hands, 2 runouts and streets from [0,1]")


@dataclass(frozen=True)
class Arrival:
    """A round of play that ended with betting to come.

    Attributes:
        end: betting at the end of the round.
        ranges: [P, H] ranges there.
    """

    board: Board
    end: Betting
    ranges: Ranges


def arrival(agent: Agent, game: Rules, street: int, odd_raises: float, rng: np.random.Generator) -> Arrival:
    """Let an agent play against itself until a round of a street ends with betting to come.

    Args:
        odd_raises: share of raises that are replaced by a raise of any size.
    """
    while True:
        deal = HandState.deal(game, rng)
        board = CanonicalBoard.of(deal.runout).cards
        state, ranges = deal.betting, start_ranges(game)
        while not state.is_over and state.street <= street:
            cards = board[: game.board_sizes[state.street]]
            actions, probs = agent.policy(public_state(state, cards))
            hand = rng.choice(game.num_hands, p=ranges[state.to_act] / ranges[state.to_act].sum(dtype=np.float64))
            choice = int(rng.choice(len(actions), p=probs[hand] / probs[hand].sum(dtype=np.float64)))
            action, legal = actions[choice], state.legal()
            if action > 0 and rng.random() < odd_raises:
                action = any_raise(legal, rng)
            else:
                ranges = observe_action(ranges, state.to_act, probs[:, choice], 0.0, len(actions))
            following = state.apply(action)
            if state.street < following.street <= street and not following.is_over:
                ranges = observe_board(ranges, board[: game.board_sizes[following.street]])
            state = following
        if not state.is_over:
            return Arrival(board[: game.board_sizes[street]], state, ranges)


class Reference:
    """Rollouts of a blueprint's continuations."""

    def __init__(self, blueprint: Blueprint, forms: Biased) -> None:
        """Prepare the continuations.

        Args:
            forms: biases of the continuations.
        """
        self.blueprint = blueprint
        self._continuations = Continuations(blueprint, forms.of(blueprint))
        self._states = BlueprintStates(blueprint.tree)

    def values(
        self, there: Arrival, player: int, hands: I64, runouts: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Compute the values of hands.

        Args:
            there: the state.
            player: the player whose hands are valued.
            hands: [n] indices of hands.
            runouts: number of complete boards.

        Returns:
            [2, K, n] values in pots, where the first axis is the player who keeps to the blueprint, and [2, K, n]
            errors.
        """
        rules, weights = self.blueprint.rules, there.ranges[1 - player]
        others = np.flatnonzero(weights)
        pair = (hands, others) if player == 0 else (others, hands)
        control = showdown_equity(rules, there.board)[np.ix_(*pair)]
        node = self._states.node(there.end, there.end.street - 1)
        mass = HOLDEM.disjoint[np.ix_(hands, others)] * weights[others]
        halves = []
        for _ in range(2):
            boards = sample_boards(rules, there.board, runouts // 2, rng)
            rolled = self._continuations.values(node, boards, pair[0], pair[1], control)
            mean, valued = rolled.in_pots(int(self.blueprint.tree.committed[node].sum()))[0], rolled.count > 0
            if player == 1:
                mean, valued = mean.transpose(0, 1, 3, 2), valued.T
            weight = mass * valued
            to_own = (mean * weight).sum(axis=3) / np.maximum(weight.sum(axis=1), 1e-30)
            halves.append(np.where(np.arange(2)[:, None, None] == player, to_own, -to_own))
        return (halves[0] + halves[1]) / 2, (halves[0] - halves[1]) / 2


def values_of(evaluator: LeafEvaluator, there: Arrival, player: int, hands: I64) -> Floats:
    """Compute the values of hands with an evaluator.

    Args:
        there: the state.
        player: the player whose hands are valued.
        hands: [n] indices of hands.

    Returns:
        [2, K, n] values in pots, as from `Reference.values`.
    """
    weights, by_own = there.ranges[1 - player], []
    for own in (0, 1):
        leaf = evaluator.values([there.end], there.board, there.ranges, own)
        clusters, others = leaf.cluster(player), leaf.cluster(1 - player)
        matrix = leaf.matrices(player)[0].astype(np.float64)
        held = np.flatnonzero(others >= 0)
        groups = np.zeros((len(held), matrix.shape[2]))
        groups[np.arange(len(held)), others[held]] = weights[held]
        mass = HOLDEM.disjoint[np.ix_(hands, held)].astype(np.float64) @ groups
        of_hands = np.einsum("nc,knc->kn", mass, matrix[:, clusters[hands]])
        by_own.append(of_hands / np.maximum(mass.sum(axis=1), 1e-30) / matched_pot(there.end))
    return np.stack(by_own)


class _Measuring:
    """A callable that measures one state after another in a process."""

    def __init__(
        self,
        game: Rules,
        agent: AgentSpec,
        evaluators: Mapping[str, Callable[[], LeafEvaluator]],
        reference: Callable[[], Blueprint],
        forms: Biased,
        settings: SampleSettings,
    ) -> None:
        self._game, self._settings = game, settings
        self._agent = require_policy(agent.build(game), "evaluate=leaf_values")
        self._evaluators = {name: build() for name, build in evaluators.items()}
        blueprint = reference()
        self._reference = Reference(blueprint, forms)

    def __call__(self, task: tuple[int, int]) -> dict[str, Any]:
        street, number = task
        settings = self._settings
        rng = np.random.default_rng([settings.seed, street, number])
        there, player = arrival(self._agent, self._game, street, settings.odd_raises, rng), number % 2
        hands = self._hands(there.ranges[player], there.board, rng)
        truth, error = self._reference.values(there, player, hands, settings.runouts, rng)
        row: dict[str, Any] = {
            "street": street, "number": number, "line": there.end.text(), "board": list(there.board),
            "reference": _rounded(error), "errors": {},
        }  # fmt: skip
        for name, evaluator in self._evaluators.items():
            try:
                values = values_of(evaluator, there, player, hands)
            except PokernetsError:  # the evaluator is for another street
                continue
            # other sets of continuations have only the blueprint in common
            same = truth.shape[1] if values.shape == truth.shape else 1
            row["errors"][name] = _rounded(values[:, :same] - truth[:, :same])
        return row

    def _hands(self, weights: Singles, board: Board, rng: np.random.Generator) -> I64:
        """Return hands drawn from the range, and then as many uniform ones."""
        half = self._settings.hands // 2
        chances = weights.astype(np.float64) / weights.sum(dtype=np.float64)
        return np.concatenate(
            [rng.choice(len(chances), half, p=chances), rng.choice(np.flatnonzero(HOLDEM.live(board)), half)]
        )


def _rounded(values: Floats) -> Any:
    return np.round(values, 5).tolist()


def run(
    *,
    game: Rules,
    agent: AgentSpec,
    evaluators: Mapping[str, Callable[[], LeafEvaluator]],
    blueprint: Callable[[], Blueprint],
    continuations: Biased,
    settings: SampleSettings,
    cluster: Cluster,
    out: str,
) -> dict[str, Any]:
    """Measure leaf evaluators on states that an agent reaches, and write the report.

    Measured states are stored, and a repeated command uses them.

    Args:
        evaluators: builders of the evaluators by name.
        blueprint: builder of the blueprint of the reference.
        continuations: biases of the continuations.
        out: folder of the reports.

    Returns:
        The record of the report.
    """
    prepare = partial(_Measuring, game, agent, evaluators, blueprint, continuations, settings)
    folder = FilePath(out) / game.name
    rows = JsonLines(folder / "states.jsonl")
    arguments = {name: build.args for name, build in evaluators.items() if isinstance(build, partial)}
    key = fingerprint_of_settings([game.name, agent.settings, asdict(settings), arguments])
    measured = {(row["street"], row["number"]): row for row in rows.rows() if row["key"] == key}
    todo = [(street, n) for street in settings.streets for n in range(settings.states) if (street, n) not in measured]
    folder.mkdir(parents=True, exist_ok=True)
    rows.cut_unfinished()
    with progress_bars("states") as progress:
        total = settings.states * len(settings.streets)
        bar = progress.add_task("leaf values", total=total, completed=total - len(todo), found="")
        for row in cluster.run(Work(prepare), todo):
            measured[row["street"], row["number"]] = row
            rows.append([{**row, "key": key}])
            progress.advance(bar)
    return _report([measured[place] for place in sorted(measured)], list(evaluators), settings).write(folder)


def _columns(rows: Sequence[Mapping[str, Any]], name: str) -> dict[str, Estimate]:
    """Return the errors of an evaluator on states of a street, for both halves of the hands."""
    errors = np.array([row["errors"][name] for row in rows if name in row["errors"]])  # [S, 2, K, n]
    of_range, uniform = np.split(errors, [errors.shape[-1] // 2], axis=-1)
    estimates: dict[str, Estimate] = {}
    for over, half in (("range", of_range), ("uniform", uniform)):
        estimates[f"error, {over}"] = estimate(np.abs(half).mean(axis=(1, 2, 3)))
        estimates[f"Huber, {over}"] = estimate(huber(half).mean(axis=(1, 2, 3)))
    return estimates | {"bias": estimate(of_range.mean(axis=(1, 2, 3)))}


def huber(errors: Floats) -> Floats:
    """Compute the Huber loss of errors.

    Args:
        errors: [...] errors in pots.

    Returns:
        [...] losses.
    """
    size = np.abs(errors)
    return np.where(size < _DELTA, size**2 / 2, _DELTA * (size - _DELTA / 2))


def _report(rows: Sequence[Mapping[str, Any]], names: Sequence[str], settings: SampleSettings) -> Report:
    cells, record, panels = [], {}, {}
    for street in settings.streets:
        there = [row for row in rows if row["street"] == street]
        word, bars = STREET_NAMES[street], []
        noise = float(np.mean([np.abs(row["reference"]).mean() for row in there]))
        for name in (name for name in names if any(name in row["errors"] for row in there)):
            columns = _columns(there, name)
            cells.append([word, name, *columns.values(), noise])
            bars.append((name, columns["error, range"]))
            record[f"{word}/{name}"] = {
                **{column: each.record() for column, each in columns.items()}, "reference": noise,
            }  # fmt: skip
        panels[word] = bars
    headings = ["street", "evaluator", *columns, "reference's own"]
    note = "in pots, with 95% intervals over states; errors of counterfactual values under all continuations"
    sections: list[Section] = [
        Table(headings, cells, f"Values at the depth limit, {settings.states} states a street", note),
        Figure("errors", partial(intervals, "Errors of counterfactual values, range-weighted", "pots", panels)),
    ]
    return Report("Values at the depth limit", sections, {"evaluators": record, "settings": asdict(settings)})
