"""Spot files, their locks and solutions on disk: round trip, queries, and one message for each mistake."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pokernets
from poker.game.cards import hand_index, parse_cards
from poker.run.errors import PokernetsError
from poker.solvers.vector.solver import VectorSolver
from poker.spots.solution import load_solution, save_solution
from poker.spots.spots import Spot, read_spot, spot_of
from tests.cases import cases, table
from tests.solvers.games import SPOTS

CONFIG = SPOTS["t1_turn_basic"]["config"]


def test_a_saved_solution_answers_like_its_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spot = spot_of(CONFIG)
    solver = VectorSolver(spot.game())
    solver.run(iterations=20)
    save_solution(tmp_path / "solution", spot, solver, {"iterations": 20.0})
    monkeypatch.setattr(VectorSolver, "advance", lambda *_: pytest.fail("solved again"))
    monkeypatch.setattr(Spot.game, "__defaults__", (1, lambda: True, None))
    with pytest.raises(PokernetsError, match="raise the limit"):
        spot.game()
    solution = load_solution(tmp_path / "solution")
    assert solution.metrics == {"iterations": 20.0}
    root = solution.node()
    assert root.actions == ("check", "bet120", "bet216", "allin900")
    hand = int(np.flatnonzero(solver.game.ranges[0])[7])
    np.testing.assert_allclose(root.strategy[hand], solver.strategy(0)[hand], atol=1e-3)
    answer = solution.node("check bet120")
    assert answer.player == 0
    assert answer.actions == ("fold", "call", "raise300")
    river = solution.node("check bet120 call 2c")
    assert river.actions == ("check", "bet220")
    node, board = river.node, river.board
    np.testing.assert_allclose(river.strategy.rows, solver.strategy(node, board), atol=1e-3)


@cases
def test_words_that_lead_nowhere(words: str, what: str, tmp_path: Path) -> None:
    spot = spot_of(CONFIG)
    save_solution(tmp_path / "s", spot, VectorSolver(spot.game()), {})
    with pytest.raises(PokernetsError, match=what):
        load_solution(tmp_path / "s").node(words)


def test_a_huge_tree_is_refused_before_it_is_built_and_one_that_nobody_waits_for_is_not() -> None:
    """Millions of nodes: building them takes minutes."""
    menu = {"bet": "10%,20%,33%,50%,75%,100%,150%,a", "raise": "2x,2.5x,3x,4x,a"}
    huge = spot_of({**CONFIG, "board": "KsTh7s", "stack": "20000", **menu})
    with pytest.raises(PokernetsError, match="this solve needs more than the limit of 100 MiB"):
        huge.game(100 << 20)
    looks = iter(range(1000))
    with pytest.raises(PokernetsError, match="cancelled"):
        huge.game(1 << 40, lambda: next(looks) < 10)


@pytest.mark.parametrize("board", ["KsTh7s4d2s", "KsTh7s4d", "KsTh7d"])
@pytest.mark.parametrize("hands", ["AKs,QQ,T9s", "random"])
def test_no_solve_is_refused_that_fits(board: str, hands: str) -> None:
    spot = spot_of({**CONFIG, "board": board, "oop_range": hands, "ip_range": "AKs,QQ,T9s,75s", "bet": "a"})
    game = spot.game(1 << 40)
    least = 4 * game.num_entries + 500 * len(game.tree)
    spot.game(least)
    with pytest.raises(PokernetsError, match="more than the limit"):
        spot.game(least // 2)


def test_spot_files(tmp_path: Path) -> None:
    file = tmp_path / "a.spot"
    file.write_text("# comment\n" + "\n".join(f"{key}: {value}" for key, value in CONFIG.items()))
    assert read_spot(file).text == CONFIG
    with pytest.raises(PokernetsError, match="there is no spot file"):
        read_spot(tmp_path / "b.spot")
    file.write_bytes("# Zoë\n".encode("latin-1") + "\n".join(f"{key}: {CONFIG[key]}" for key in CONFIG).encode())
    assert read_spot(file).text == CONFIG


@cases
def test_files_that_are_no_spot(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.spot").write_text(text)
    with pytest.raises(PokernetsError, match=message):
        read_spot(tmp_path / "a.spot")


def test_a_size_beyond_every_stack_is_all_in() -> None:
    spot = spot_of({**SPOTS["r1_river_full"]["config"], "bet": "50%", "raise": "9" * 308 + "x"})
    assert spot.bets.raise_totals(spot.root.apply(100)) == (spot.root.rules.stacks[0],)


def test_spots_on_one_board_have_different_names() -> None:
    names = [spot_of({**CONFIG, "pot": pot}).name for pot in ("100", "120", "100")]
    assert names[0] == names[2] != names[1]
    assert names[0].startswith(f"{CONFIG['board']}-")


def test_an_altered_solution_is_refused(tmp_path: Path) -> None:
    spot = spot_of(CONFIG)
    save_solution(tmp_path / "solution", spot, VectorSolver(spot.game()), {})
    with (tmp_path / "solution" / "strategy.npy").open("r+b") as file:
        file.seek(-200, 2)
        file.write(bytes(200))
    with pytest.raises(PokernetsError, match="does not match the SHA-256"):
        load_solution(tmp_path / "solution")


SPOT = table(__file__, "SPOT")


def solved(**locks: Any) -> pokernets.SolvedSpot:
    texts = {key.replace("_", " "): text for key, text in locks.items()}
    return pokernets.solve({**SPOT, **texts}, exploitability=0.002)


def test_locked_hands_follow_the_lock() -> None:
    spot = solved(lock_check="bet30 AA:0.25,TT; check rest")
    view = spot.view("check")
    shares = {hand: view.strategy[hand_index(*parse_cards(hand))].tolist() for hand in ("AdAc", "TdTc", "9s9c")}
    assert view.actions == ("check", "bet30")
    assert shares["AdAc"] == pytest.approx([0.75, 0.25])
    assert shares["TdTc"] == pytest.approx([0, 1])
    assert shares["9s9c"] == pytest.approx([1, 0])
    free = solved()
    assert not np.allclose(free.view("check").strategy, view.strategy, atol=0.05)
    assert spot.ev[1] < free.ev[1]  # the other player knows it
    assert sum(spot.ev) == pytest.approx(60)


@cases
def test_invalid_lock_is_refused(locks: dict[str, str], message: str) -> None:
    with pytest.raises(PokernetsError, match=message):
        solved(**locks)
