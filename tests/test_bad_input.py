"""User mistakes on the command line of evaluate.py: one line that names the mistake, status 2, nothing written."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import run_here
from tests.games import CONF, load_rules

ROOT = CONF.parent


Refused = Callable[..., str]


@pytest.fixture
def refused(tmp_path: Path) -> Refused:
    """Runs the command in this process; returns the single line on stderr."""

    def run(*arguments: str) -> str:
        done = run_here("evaluate", *arguments, f"runs={tmp_path}/runs")
        assert done.returncode == 2
        assert not list(tmp_path.glob("runs/matches/**/*.log"))
        lines = done.stderr.strip().splitlines()
        assert len(lines) == 1, lines
        return lines[0]

    return run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hand=10", "evaluate=match"], "there is no setting 'hand'; did you mean 'hands'?"),
        (["evaluate=matsch"], "there is no evaluate=matsch; did you mean 'match'?"),
        (
            ["evaluate=match", "agents=[equity,alway_call]"],
            "there is no agents=alway_call; did you mean 'always_call'?",
        ),
        (["evaluate=match", "agents=[equity,random]", "agent.equity.sampels=3"], "there is no setting"),
        (["evaluate=match", "agents=[equity,random]", "~game.blinds"], "needs a value for 'blinds'"),
        (["evaluate=match", "agents=[equity,random]", "game.blinds=[100]"], "field `blinds` must be 2 amounts"),
        (["evaluate=match", "agents=[equity,random]", "hands=many"], "'hands' must be int, not 'many'"),
        (["evaluate=match", "agents=[random,always_call]", "+agent.random.x=3"], "no parameter 'x'"),
        (["evaluate=match", "game=acpc", "agents=[equity,random]"], "game.path"),
        (["evaluate=match", "agents=[equity]"], "`agents` are 1"),
        ([], "choose what to run: evaluate=NAME"),
    ],
)
def test_one_line_and_status_2(refused: Refused, arguments: list[str], message: str) -> None:
    assert message in refused(*arguments)


def test_the_command_itself(tmp_path: Path) -> None:
    command = [sys.executable, "evaluate.py", "evaluate=match", "agents=[equity,nobody]", f"runs={tmp_path}/runs"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: there is no agents=nobody")
    assert done.stdout == ""


def test_game_definition_with_a_missing_field(tmp_path: Path, refused: Refused) -> None:
    path = tmp_path / "half.game"
    path.write_text(load_rules("leduc").to_acpc().replace("numHoleCards = 1\n", ""))
    line = refused("evaluate=match", "agents=[random,always_call]", "game=acpc", f"game.path={path}")
    assert "game definition `half`: missing field `numHoleCards`" in line
    line = refused("evaluate=match", "agents=[random,always_call]", "game=acpc", "game.path=none.game")
    assert "game definition none.game cannot be read" in line


def test_a_game_definition_file_is_played(tmp_path: Path) -> None:
    path = tmp_path / "mine.game"
    path.write_text(load_rules("leduc").to_acpc())
    command = [sys.executable, "evaluate.py", "evaluate=match", "agents=[random,always_call]", "game=acpc"]
    command += [f"game.path={path}", "hands=20", "cluster.processes=1", f"runs={tmp_path}/runs"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    assert list(tmp_path.glob("runs/matches/mine/hands/*.log"))
