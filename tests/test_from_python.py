"""The programs of docs/from_python.md run as written, and what the interface refuses."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pokernets
from models.opponent.inference import OPPONENT_NET, POPULATION, STAMP
from models.opponent.nets import WideNet
from models.training.export import Architecture, export_net
from poker.formats.played import HistoryError
from poker.game.rules import CALL
from poker.game.state import HandState
from poker.run.errors import PokernetsError
from tests.cases import table
from tests.commands import run_script
from tests.formats.samples import sample
from tests.killed import ROOT

NOTEBOOK = ROOT / "docs" / "agent.ipynb"
PAGE = (ROOT / "docs" / "from_python.md").read_text()
PROGRAMS = dict(re.findall(r"^## (.+?)\n.*?```python\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))
SPOT = {"board": "QsJh2h8d2c", "oop_range": "AA", "ip_range": "KK", "pot": 2, "stack": 9, "bet": "a"}
TOLD = table(__file__, "TOLD")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which an opponent net was trained, or rather was not."""
    folder = tmp_path_factory.mktemp("programs")
    wide = Architecture(WideNet, hidden=[8], seed=1)
    population = {POPULATION: np.full(36, 1 / 3).tolist()}
    place = folder / "artifacts" / "demo" / "opponent_net" / "hand"
    export_net(place, OPPONENT_NET, wide, wide(), stamp=STAMP, config={}, made_from={}, counts=population)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("title", PROGRAMS)
def test_programs_run_as_written(title: str, folder: Path) -> None:
    out = output_of(PROGRAMS[title], folder)
    assert re.fullmatch(TOLD[title], out), out


@pytest.mark.slow
def test_notebook_runs_and_prints_the_documented_results(tmp_path: Path) -> None:
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    code = "\n".join("".join(cell["source"]) for cell in cells)
    streams = [out["text"] for cell in cells for out in cell["outputs"] if out["output_type"] == "stream"]
    assert re.sub(r"\d", "0", output_of(code, tmp_path)) == re.sub(r"\d", "0", "".join(map("".join, streams)))


def output_of(program: str, folder: Path) -> str:
    """Output of a program that runs in a folder, which must succeed."""
    (folder / "program.py").write_text(program)
    done = run_script(folder / "program.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_programs_of_the_page_have_expected_outputs() -> None:
    assert list(PROGRAMS) == list(TOLD)


def test_every_public_name_exists_and_is_documented() -> None:
    assert all(getattr(pokernets, name).__doc__ for name in pokernets.__all__)
    assert not hasattr(pokernets, "nothing")


def test_agent_starts_a_hand_when_the_state_does_not_follow() -> None:
    agent = pokernets.load_agent(agent="equity", game="holdem_limit_2p")
    started: list[int] = []
    agent.agent.start_hand = started.append  # type: ignore[assignment]
    hand = HandState.deal(agent.game, np.random.default_rng(1))
    for state in (hand, hand.apply(CALL), hand.apply(CALL).apply(CALL), hand):
        agent.act(state)
    assert started == [1, 0, 1]
    agent.act(hand)
    assert started == [1, 0, 1, 1]


def test_tables_have_a_row_for_each_hand_that_is_possible() -> None:
    agent = pokernets.load_agent(agent="equity_policy")
    table = agent.strategy(agent.state("r300c/", "AsKdQc"))
    assert list(table) == ["hand", "weight", "check", *list(table)[3:]]
    assert {len(column) for column in table.values()} == {1176}
    assert np.allclose(sum(table[name] for name in list(table)[2:]), 1)
    solved = pokernets.solve(SPOT)
    assert len(solved.strategy()["hand"]) == 6
    assert solved.strategy("check check") == {}
    assert solved.ev[0] > 1.9


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(
        PokernetsError, match=r"no bundle or folder of artifacts at desktop; the installation has laptop"
    ):
        pokernets.load_agent("desktop")
    agent = pokernets.load_agent(agent="equity")
    with pytest.raises(PokernetsError, match="no policy interface"):
        agent.strategy(agent.state())
    with pytest.raises(PokernetsError, match="not different cards"):
        agent.state(board="AsAsKd")
    with pytest.raises(PokernetsError, match="the board has 0 or 3 or 4 or 5 cards, not 2"):
        agent.state("cc/", "Ks9d")
    flop = agent.state("cc/cc", "Ks9d4c", "AhAd")
    for ask in (agent.act, pokernets.load_agent(agent="equity_policy").strategy):
        with pytest.raises(PokernetsError, match="after `cc/cc/` the board has 4 cards, not 3"):
            ask(flop)
    limits: list[dict[str, Any]] = [{name: math.nan} for name in ("seconds", "memory_gib", "exploitability")]
    for limit in [*limits, {"threads": -1}]:
        with pytest.raises(PokernetsError, match="must be positive"):
            pokernets.solve(SPOT, **limit)
    with pytest.raises(PokernetsError, match="`KsQh` is not a hand of two cards off the board"):
        pokernets.leaf_values(flop, ["KsQh"], ["AsAd"], player=0)
    with pytest.raises(PokernetsError, match="the player has 1 hands, the opponent 0"):
        pokernets.leaf_values(flop, ["KdQh"], [], player=0)
    with pytest.raises(PokernetsError, match="'serch'"):
        pokernets.load_agent(serch="quick")


def test_unreadable_hands_are_skipped_with_warnings_or_errors(tmp_path: Path) -> None:
    file = tmp_path / "hands.txt"
    file.write_text(f"{sample('two_sites').replace('Raises $19 to $20', 'Raises $18 to $20')}\n{sample('bovada_walk')}")
    with pytest.warns(UserWarning, match=r"hands\.txt, line 26: 1800 more chips make 1900, not 2000"):
        assert len(list(pokernets.read_hands(file))) == 2
    errors: list[HistoryError] = []
    assert len(list(pokernets.read_hands(file, errors))) == 2
    assert [error.line for error in errors] == [26]
