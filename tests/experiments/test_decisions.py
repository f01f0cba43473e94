"""PokerBench's files are read; agents and the solver answer their decisions; what was decided is kept."""

import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra.utils import instantiate

from conf.compose import compose
from poker.agents.base import Agent
from poker.experiments.decisions import experiment
from poker.experiments.decisions.solved import on_options
from poker.formats.pokerbench import ALL_IN, amount_of, is_card, read_decisions
from poker.game.betting import Betting
from poker.game.rules import FOLD
from poker.game.state import HandState, Policy
from poker.play.lineup import AgentSpec
from poker.run.errors import PokernetsError
from poker.solve.flops import SampledFlops
from poker.solve.types import Budget
from poker.tree.spots import spot_bets, spot_root
from tests.cases import cases
from tests.formats.samples import sample
from tests.games import SIX
from tests.needs import SET
from tests.search.even_leaf import EvenLeaf

SOLVER = "solver, even ranges"
PREFLOP = sample("decisions_preflop")
POSTFLOP = sample("decisions_postflop")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, text in {"preflop": PREFLOP, "postflop": POSTFLOP}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return [str(tmp_path / f"{name}.csv") for name in ("preflop", "postflop")]


class Even(Agent):
    """Folds, calls and makes the least and the largest raise, each as often."""

    def policy(self, state: HandState) -> Policy:
        legal = state.legal()
        actions = (-1,) * legal.fold + (0,) + ((legal.min_raise, legal.max_raise) if legal.max_raise else ())
        return actions, np.full((state.rules.num_hands, len(actions)), 1 / len(actions), np.float32)


def decide(files: list[str], out: Path, **changes: Any) -> dict[str, Any]:
    even = AgentSpec("even", lambda: Even(name="even"), {})
    arguments = {
        "agents": [even],
        "ranges": even,
        "leaf": EvenLeaf(),
        "flops": None,
        "menus": [{"bet": "100%,a", "raise": "a"}],
        "ahead": {"bet": "", "raise": ""},
        "budget": Budget(100, 0.01, memory_limit_gib=1.0),
        "games": None,
        "seed": 1,
        **changes,
    }
    return experiment.run(game=SIX, file=files, out=str(out), **arguments)


def test_agents_and_the_solver_decide_the_spots_in_files(files: list[str], tmp_path: Path) -> None:
    rows = {(row["by"], row["of"]): row for row in decide(files, tmp_path / "out")["rows"]}
    assert rows[SOLVER, "after the flop"]["decisions"] == 4
    assert rows[SOLVER, "river"]["accuracy"]["mean"] == rows[SOLVER, "turn"]["accuracy"]["mean"] == 1
    assert rows[SOLVER, "river"]["lost"]["mean"] == pytest.approx(0, abs=0.01)
    assert rows[SOLVER, "river"]["goes_with"]["mean"] == 1
    assert sum(rows[SOLVER, of]["decisions"] for _, of in rows if of.startswith("reached")) == 4 * 2
    assert rows["even", "3-bet pots"]["probability"]["mean"] == pytest.approx((1 / 2 + 1 / 2 + 1 / 4 + 1 / 3) / 4)
    assert rows["even", "river"]["lost"]["mean"] > 20
    assert rows["even", "before the flop"]["probability"]["mean"] == pytest.approx((1 / 2 + 1 / 2) / 2)
    [journal] = (tmp_path / "out").rglob("games.jsonl")
    kept = journal.read_text()
    cut = [json.loads(line) for line in kept.splitlines()]
    journal.write_text("".join(f"{json.dumps(row)}\n" for row in cut[:-1]) + '{"by": "ev')
    decide(files, tmp_path / "out")
    again = [json.loads(line) for line in journal.read_text().splitlines()]
    assert again[:-1] == cut[:-1]
    assert again[-1]["answers"] == cut[-1]["answers"]


def test_flops_are_solved_to_the_end_with_sampled_rivers(files: list[str], tmp_path: Path) -> None:
    few = SampledFlops(work=1e8, rivers=(1, 1), iterations=2, unlikely=0.0, fewer_ahead=spot_bets({"bet": ""}))
    record = decide(files, tmp_path, leaf=None, flops=few, menus=[{"bet": "a", "raise": ""}])
    rows = {(row["by"], row["of"]): row for row in record["rows"]}
    assert rows[f"{SOLVER}, sampled rivers", "after the flop"]["decisions"] == 4


def test_agent_with_other_settings_decides_again(files: list[str], tmp_path: Path) -> None:
    decide(files[:1], tmp_path)
    decide(files[:1], tmp_path, agents=[AgentSpec("even", lambda: Even(name="even"), {"samples": 2})])
    [journal] = tmp_path.rglob("games.jsonl")
    assert len(journal.read_text().splitlines()) == 2 * 2


@pytest.mark.parametrize("cut", ["1,0", "1,0,\"['3.0bb']\""])
def test_a_row_that_is_cut_off_is_refused(tmp_path: Path, cut: str) -> None:
    head, first, _ = PREFLOP.split("\n")[:3]
    (tmp_path / "cut.csv").write_text(f"{head}\n{first}\n2,,SB,QdJc,3.0bb,{cut}\n")
    with pytest.raises(PokernetsError, match=r"cut\.csv, after 1 decisions: the next row has too few columns"):
        read_decisions(tmp_path / "cut.csv")


def test_the_flop_has_the_bets_of_the_spot_in_whole_big_blinds(files: list[str]) -> None:
    after = read_decisions(files[1])[-1]
    assert (after.raises, after.pot, after.options) == (2, 26, (0, 26))
    assert after.betting(SIX).text().endswith("/c")
    assert after.before_flop(SIX).pot == 2650


def test_the_blueprint_of_the_set_opens_as_it_does() -> None:
    config = compose("data_gen", ["experiment=six_max"])
    menu, betting = instantiate(config.bets), Betting.start(SIX)
    opens = []
    for _ in range(5):
        opens.append(menu.raise_totals(betting))
        betting = betting.apply(FOLD)
    assert opens == [(200,), (200,), (230,), (250,), (300,)]


def test_lines_and_menus_of_the_set_are_in_the_trees(tmp_path: Path) -> None:
    if not SET.exists():
        pytest.skip(f"needs {SET}")
    with tarfile.open(SET) as archive:
        archive.extract("pokerbench/postflop.csv", tmp_path, filter="data")
    menus = [spot_bets(menu) for menu in instantiate(compose("evaluate", ["evaluate=decisions", "file=x"]).menus)]
    others = 0
    for one in read_decisions(tmp_path / "pokerbench" / "postflop.csv"):
        before, menu = one.before_flop(SIX), menus[min(one.raises, 2) - 1]
        pot, stack, start = before.pot // 100, (10_000 - before.highest) // 100, 0
        betting = spot_root(3, stack)
        for word in one.words:
            if is_card(word):
                start = max(betting.committed)
                continue
            amount = amount_of(word)
            action = min(start + amount, stack) if amount > 0 else amount
            assert action <= 0 or action in menu.raise_totals(betting, pot, start), one
            betting = betting.apply(int(action))
        offered = {total - start for total in menu.raise_totals(betting, pot, start)}
        others += offered != {amount for amount in one.options if amount > 0}
    assert others == 99, "menus of flops that come of another tree"


def test_actions_are_read_as_the_next_option() -> None:
    assert on_options([-1, 0, 10, 40], [0.1, 0.2, 0.3, 0.4], [-1, 0, 9, ALL_IN]) == pytest.approx([0.1, 0.2, 0.7, 0])
    assert on_options([-1, 0, 10], [0.5, 0.25, 0.25], [-1, 12]) == pytest.approx([2 / 3, 1 / 3])
    assert on_options([-1, 30], [0.25, 0.75], [-1, 0]) == [0.25, 0.75]
    assert on_options([0], [1.0], [-1, 5]) == [0.5, 0.5]


@cases
def test_files_that_are_not_of_the_form(files: list[str], tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "bad.csv").write_text(POSTFLOP.replace(old, new))
    with pytest.raises(PokernetsError, match=message):
        decide([str(tmp_path / "bad.csv")], tmp_path / "out")
    with pytest.raises(PokernetsError, match="`games` must be at least 1"):
        decide(files, tmp_path / "out", games=0)
