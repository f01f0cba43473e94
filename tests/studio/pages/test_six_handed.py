"""The table of six is offered beside a heads-up game, with the commands that make its blueprint."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import AsyncMock, Mock

import pytest
from nicegui import Client, run, ui
from nicegui.page import page

from conf import specs
from conf.compose import compose
from poker.studio.pages import six_handed
from poker.studio.pages.pages import Page, blueprint_of
from poker.studio.pages.six_handed import Commands, make
from tests.games import HEADS_UP as RULES
from tests.killed import ROOT


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(
    ("commands", "line"),
    [
        ([python("print('one')"), python("print('two')\nprint()")], "two"),
        ([python("raise SystemExit('no disk')"), python("print('two')")], "no disk"),
        ([python("print('one')"), ["/no/such/program"]], "The command did not start: [Errno 2]"),
        ([python("import sys; sys.stdout.buffer.write(b'caf\\xe9')")], "caf\ufffd"),
    ],
)
def test_commands_run_one_after_the_other_until_one_fails(commands: list[list[str]], line: str) -> None:
    running = Commands(commands)
    for _ in range(2):
        running.start()
    while running.started is not None:
        time.sleep(0.01)
    assert running.line.startswith(line)


def test_commands_are_cancelled_and_started_again() -> None:
    commands = Commands([python("import time; print('one', flush=True); time.sleep(600)"), python("print('two')")])
    for _ in range(2):
        commands.start()
        while commands.line != "one":
            time.sleep(0.01)
        commands.cancel()
        while commands.started is not None:
            time.sleep(0.01)
        assert commands.line == "Cancelled. The button continues the training."


def test_commands_end_with_a_killed_server(tmp_path: Path) -> None:
    os.mkfifo(fifo := tmp_path / "fifo")
    endless = "from poker.run.child import end_with_starter; end_with_starter(); import time;"
    command = python(f"{endless} file = open('{fifo}', 'w'); print('on', file=file, flush=True); time.sleep(600)")
    start = f"from {Commands.__module__} import Commands; Commands([{command}]).start(); import time; time.sleep(600)"
    with subprocess.Popen(python(start), cwd=ROOT) as server, fifo.open() as output:
        assert output.readline() == "on\n"
        server.kill()
        assert output.read() == ""  # once the command has ended


def test_the_table_takes_the_place_of_the_offer_once_there_is_a_blueprint(monkeypatch: pytest.MonkeyPatch) -> None:
    sat_down, exists, timer = AsyncMock(), Mock(return_value=False), Mock()
    table = Mock(
        settings={"game": RULES, "agents": [Mock(settings={"blueprint": {"blueprint": "x"}})]}, make=lambda _: sat_down
    )
    monkeypatch.setattr(six_handed, "artifact_exists", exists)
    monkeypatch.setattr(ui, "timer", timer)
    monkeypatch.setattr(run, "io_bound", AsyncMock(side_effect=lambda work: work()))

    async def visit() -> None:
        with Client(page("/")) as client:
            await make(Mock(), lambda: table)("me")
            await timer.call_args.args[1]()
            buttons = [one.text for one in client.elements.values() if isinstance(one, ui.button)]
            assert buttons == ["Make the blueprint", "Cancel"]
            sat_down.assert_not_called()
            exists.return_value = True
            await timer.call_args.args[1]()
            sat_down.assert_called_once_with("me")
            assert not any(isinstance(one, ui.button) for one in client.elements.values())

    asyncio.run(visit())


def test_the_table_of_six_is_the_one_that_play_has_for_that_game() -> None:
    made = specs.six_handed({"name": "holdem_nolimit_2p"}, "my runs", 3)
    assert made is not None
    table: Page = made()
    game, [agent] = table.settings["game"], table.settings["agents"]
    assert (game.num_players, agent.name, blueprint_of(table)) == (
        6,
        "depth_limited_ring",
        "artifacts/demo_6p/blueprint",
    )
    assert (table.settings["out"], table.settings["processes"]) == ("my runs/table", 3)
    assert specs.six_handed({"name": "holdem_nolimit_6p"}, "runs", None) is None
    assert compose("evaluate", ["evaluate=play"]).evaluate.pages[1].table._target_ == "conf.specs.six_handed"
