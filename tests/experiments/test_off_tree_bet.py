"""The off-tree bet of [DLS] on a game of 20 cards, where translation is also computed by hand."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from poker.depth_limit.continuations.generation import ContinuationSet, Solving, biased, limited_game, self_generated
from poker.depth_limit.continuations.leaf_play import LeafPlay
from poker.depth_limit.evaluator import LeafEvaluator
from poker.experiments.off_tree_bet.experiment import AVERAGED, FALLBACK, IN_TREE, TO_THE_END, TRANSLATION, Measure, run
from poker.experiments.off_tree_bet.search import Depth, SearchedAnswers, averaged, predicted
from poker.experiments.off_tree_bet.solutions import GameEffort, SolvedGame, by_suits, line_rows, solved, translated
from poker.experiments.off_tree_bet.spot import OffTreeBet, twins
from poker.game.rules import Rules
from poker.game.state import Betting
from poker.kernels.types import Ranges
from poker.run.errors import PokernetsError
from poker.run.progress import Console
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.leaves import LeafValues
from poker.solvers.vector.solver import VectorSolver
from poker.tree import bet_menu
from tests.cases import table

MENU = bet_menu(preflop=[[0.5, 1], [1], ["a"]], flop=[[0.5, 1], [1], ["a"]])
QUIET = Console(quiet=True)


def two_rounds(ranks: int = 4, suits: int = 2) -> Rules:
    """Two hole cards and a flop of one, 200 big blinds."""
    blinds, stacks = (100, 50), (20000, 20000)
    return Rules("two_rounds", 2, "nolimit", blinds, stacks, (), (), (1, 0), suits, ranks, 2, (0, 1))


@pytest.fixture(scope="module")
def spot() -> OffTreeBet:
    return OffTreeBet.of(two_rounds(), MENU, 0.75)


@pytest.fixture(scope="module")
def games(spot: OffTreeBet, tmp_path_factory: pytest.TempPathFactory) -> tuple[SolvedGame, SolvedGame]:
    """The games without and with the bet."""
    folder, effort = tmp_path_factory.mktemp("solved"), GameEffort("apdcfr", 0.5, 3000, 1, 1 << 30)
    blueprint = solved(VectorGame(spot.blueprint_tree), folder / "blueprint", {}, effort, QUIET)
    return blueprint, solved(VectorGame(spot.extended_tree), folder / "extended", {}, effort, QUIET)


def test_lines_next_to_the_bet(spot: OffTreeBet) -> None:
    assert (spot.total, spot.p1, spot.p2) == (250, 1, 0)
    assert dict(spot.lines) == pytest.approx({200: 3 / 7, 300: 4 / 7})  # 0.25 * 1.5 / (0.5 * 1.75)


@pytest.mark.parametrize(("size", "message"), [(0.5, "already in the menu"), (1.5, "between two bets of the menu")])
def test_a_bet_of_the_menu_or_beyond_it_is_refused(size: float, message: str) -> None:
    with pytest.raises(PokernetsError, match=message):
        OffTreeBet.of(two_rounds(), MENU, size)


def test_twins_make_the_same_choices(spot: OffTreeBet) -> None:
    tree = spot.blueprint_tree
    same = twins(tree, tree.find([300]), spot.branch)
    assert tree.path(int(same[spot.branch.find([750, 0, 0, 1500])])) == (300, 900, 0, 0, 1800)


def test_menus_that_differ_after_the_bet_are_refused() -> None:
    menu = bet_menu(preflop=[["250%", "700%"], ["a"]], flop=[["20000c"]])
    shallow = Rules("shallow", 2, "nolimit", (100, 50), (1500, 1500), (), (), (1, 0), 2, 4, 2, (0, 1))
    spot = OffTreeBet.of(shallow, menu, 5.0)
    with pytest.raises(PokernetsError, match="offers different bets"):
        twins(spot.blueprint_tree, spot.blueprint_tree.find([1500]), spot.branch)


def test_translation_is_worth_the_mean_of_its_lines_to_a_fixed_opponent(
    spot: OffTreeBet, games: tuple[SolvedGame, SolvedGame]
) -> None:
    game = VectorGame(spot.branch)
    solver = VectorSolver(game)

    def value(rows: np.ndarray) -> float:
        solver.arrays["sums"][:] = rows + _rows_of(game, spot.p1)
        return solver.game_value(spot.p2)

    lines = [probability * value(line_rows(spot, games[0], total, game, spot.p2)) for total, probability in spot.lines]
    assert value(translated(spot, games[0], game, spot.p2)) == pytest.approx(sum(lines), abs=1e-2)


def _rows_of(game: VectorGame, player: int) -> np.ndarray:
    """A fixed random strategy of the player."""
    out, rng = np.zeros(game.num_entries, np.float32), np.random.default_rng(3)
    for node in game.layout.decisions.tolist():
        if game.tree.player[node] == player:
            for board in game.on(int(game.tree.street[node])):
                rows = game.rows(out, node, board)
                rows[:] = rng.random(rows.shape)
    return out


def test_best_responses_join_in_the_tree_that_has_the_bet(
    spot: OffTreeBet, games: tuple[SolvedGame, SolvedGame]
) -> None:
    """P2's strategy in the larger tree, taken apart into the bet and the rest, concedes what it does as a whole."""
    _, extended = games
    solver = extended.solver(1)
    whole = solver.best_response_value(spot.p1)
    tree = spot.extended_tree
    values = solver.best_response_values(spot.p1)
    others = [values.at(child) for child in tree.children(0) if tree.action[child] != spot.total]
    measure = Measure(spot, np.max(others, axis=0), 0.0, 1)
    measured = measure(line_rows(spot, extended, spot.total, measure.game, spot.p2))
    assert measured.exploitability == pytest.approx(measure.mbb * whole, abs=0.05)


@pytest.fixture(scope="module")
def search(spot: OffTreeBet, games: tuple[SolvedGame, SolvedGame]) -> SearchedAnswers:
    otherwise = by_suits(games[0].game, games[0].solver(1).values(spot.p1, best_response=True))
    return SearchedAnswers(spot, games[0], otherwise, Depth("apdcfr", 500, 500, 500, 1))


@pytest.fixture(scope="module")
def measure(spot: OffTreeBet, search: SearchedAnswers, games: tuple[SolvedGame, SolvedGame]) -> Measure:
    assert spot.p1 == 1
    return Measure(spot, search.root.alternatives, -games[1].counts["value"], 1)


@pytest.fixture(scope="module")
def continuations(spot: OffTreeBet, search: SearchedAnswers) -> ContinuationSet:
    return self_generated(search.leaf_play(), MENU, spot.p1, 8, root=search.root, solving=Solving(iterations=300))


def test_continuations_after_the_bet_have_the_value_of_the_bet(
    search: SearchedAnswers, measure: Measure, continuations: ContinuationSet
) -> None:
    """The limited game values P1's play below the limit as it is: exactly, where P1 follows the blueprint there."""
    first = search.first_round(continuations, 1)
    limited = VectorSolver(limited_game(continuations, 1, search.spot.rules, MENU, search.root), "apdcfr")
    limited.advance(search.depth.first_round)
    tree, p1 = limited.game.tree, search.spot.p1
    entered = limited.best_response_values(p1).at(tree.find(()))
    assert (measure.bet_values(search.fallback(first)) - entered).min() > -0.01  # best responses below the limit too


def test_more_continuations_make_the_first_round_safer(
    search: SearchedAnswers, measure: Measure, continuations: ContinuationSet
) -> None:
    one, many = (measure(search.fallback(search.first_round(continuations, size))).exploitability for size in (1, 8))
    assert many < 0.2 * one


@pytest.mark.parametrize("size", [1, 8])
def test_flops_solved_by_themselves_are_safe(
    search: SearchedAnswers, measure: Measure, continuations: ContinuationSet, size: int
) -> None:
    """No more exploitable than the strategy that their alternatives come from, and less where that is weak."""
    first = search.first_round(continuations, size)
    before, after = (measure(rows).exploitability for rows in (search.fallback(first), search.flops(first)))
    assert after < before + 0.1
    if size == 1:
        assert after < 0.5 * before


def test_means_of_the_neighbouring_lines_are_taken_leaf_by_leaf(
    spot: OffTreeBet, games: tuple[SolvedGame, SolvedGame], search: SearchedAnswers
) -> None:
    generated = biased(LeafPlay(games[0].solver(1)), spot.p1)
    means = averaged(spot, generated)
    assert means.leaves == search.leaf_play().leaves
    for leaf, low, high in (((0,), (200, 0), (300, 0)), ((750, 0), (200, 600, 0), (300, 900, 0))):
        ends = [generated.values[generated.leaves.index(path)] for path in (low, high)]
        np.testing.assert_allclose(means.values[means.leaves.index(leaf)], (ends[0] + ends[1]) / 2, rtol=1e-5)
    assert search.first_round(means, 4).any()


class Oracle(LeafEvaluator):
    """A leaf evaluator with the values of a set of continuations, by the betting."""

    def __init__(self, spot: OffTreeBet, continuations: ContinuationSet) -> None:
        self._set = continuations
        self._rows = {spot.branch.path_text(spot.branch.find(leaf)): k for k, leaf in enumerate(continuations.leaves)}
        self._after = spot.after_bet
        self.num_continuations = continuations.size

    def values(self, leaves: Sequence[Betting], board: tuple[int, ...], ranges: Ranges, own: int) -> LeafValues:
        assert own == 0  # whose chips the set holds
        rows = [self._rows[leaf.text().removeprefix(self._after.text())] for leaf in leaves]
        return LeafValues(own, self._set.clusters, self._set.clusters, self._set.values[rows])


def test_values_of_an_evaluator_take_the_place_of_generated_ones(spot: OffTreeBet, search: SearchedAnswers) -> None:
    generated = biased(search.leaf_play(), spot.p1)
    valued = predicted(search, Oracle(spot, generated))
    np.testing.assert_array_equal(valued.values, generated.values)
    np.testing.assert_array_equal(search.first_round(valued, 4), search.first_round(generated, 4))


def test_stored_solution_is_reused_and_an_imprecise_one_is_reported(
    spot: OffTreeBet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game, effort = VectorGame(spot.blueprint_tree), GameEffort("apdcfr", 1e-5, 60, 1, 1 << 30)
    console = Console(stderr=True, width=200)
    solution = solved(game, tmp_path / "blueprint", {}, effort, console)
    monkeypatch.setattr(VectorSolver, "run", None)
    assert solved(game, tmp_path / "blueprint", {}, effort, console).counts == solution.counts
    assert solution.counts["iterations"] == 60
    assert capsys.readouterr().err.count("after 60 iterations, not 1e-05") == 2


def test_the_experiment(spot: OffTreeBet, search: SearchedAnswers, tmp_path: Path) -> None:
    oracle = Oracle(spot, biased(search.leaf_play(), spot.p1))
    record = run(
        game=spot.rules,
        menu=MENU,
        evaluators={"oracle": oracle, "nobody": None},
        artifacts=str(tmp_path / "artifacts"),
        out=str(tmp_path / "runs"),
        **table(__file__, "settings"),
    )
    exploitability = {(one["answer"], one["values"]): one["exploitability"] for one in record["answers"]}
    least = record["without_the_bet_mbb"] - 0.01
    assert all(value >= least for name, value in exploitability.items() if name[0] != IN_TREE)
    assert exploitability[IN_TREE, None] < 2.0
    assert exploitability[AVERAGED, 4] < exploitability[f"{AVERAGED}, {FALLBACK}", 4]
    assert exploitability["oracle", 4] == pytest.approx(exploitability["biased", 4], abs=0.2)
    assert exploitability["averaged biased", 4] != pytest.approx(exploitability["biased", 4], abs=0.2)
    assert "nobody" not in {name for name, _ in exploitability}
    assert exploitability[TO_THE_END, None] < exploitability[TRANSLATION, None]
    folder = tmp_path / "runs" / "two_rounds"
    assert (folder / "results.png").read_bytes().startswith(b"\x89PNG")
    assert "translation" in (folder / "report.html").read_text()


def test_means_by_suit_are_exactly_alike(spot: OffTreeBet) -> None:
    game = VectorGame(spot.branch)
    values = by_suits(game, np.random.default_rng(2).random(spot.rules.num_hands).astype(np.float32))
    other = game.boards.groups[0][1]
    np.testing.assert_array_equal(values[deck_of(spot.rules).hand_map[other]], values)
