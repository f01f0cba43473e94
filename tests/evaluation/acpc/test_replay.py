import json
from functools import partial
from pathlib import Path

import pytest

from poker.agents.simple import AlwaysCall, RandomAgent
from poker.errors import PokernetsError
from poker.evaluation.acpc.replay import run
from poker.evaluation.matches.table import AgentSpec
from poker.formats.acpc_log import AcpcError
from tests.evaluation.matches.test_match import match
from tests.evaluation.pages.test_html import check
from tests.games import load_rules

GAME = load_rules("holdem_nolimit_2p")
SPECS = [
    AgentSpec("call", partial(AlwaysCall, name="call"), {}),
    AgentSpec("random", partial(RandomAgent, name="random", raises=[0.5, 1, "a"]), {}),
]


def test_a_replayed_log_has_the_result_of_the_match(tmp_path: Path) -> None:
    played = match(tmp_path, game=GAME, agents=SPECS, hands=100).tables[0]
    found = run(game=GAME, log=str(played.log), phh=str(tmp_path / "hands.phhs"), out=str(tmp_path / "replay"))
    for label, estimate in zip(played.table.labels, played.estimates(), strict=True):
        assert found[label].mean == pytest.approx(estimate.mean)
        assert found[label].half_width == pytest.approx(estimate.half_width)
        assert found[label].n == 50
    report = next((tmp_path / "replay" / GAME.name).glob("*.html"))
    assert check(report.read_text()).count["svg"] == 2
    saved = json.loads(report.with_suffix(".json").read_text())
    assert {row["name"]: row["mean"] for row in saved["results"]} == pytest.approx(
        {n: e.mean for n, e in found.items()}
    )
    assert (tmp_path / "hands.phhs").read_text().count("starting_stacks") == 100


def test_a_changed_log_is_refused_by_line(tmp_path: Path) -> None:
    log = match(tmp_path, game=GAME, agents=SPECS, hands=10).tables[0].log
    lines = log.read_text().splitlines()
    number, betting = lines[3].split(":")[1:3]
    lines[3] = lines[3].replace(f":{number}:{betting}:", f":{number}:{betting}c:")
    log.write_text("\n".join(lines) + "\n")
    with pytest.raises(AcpcError, match="line 4"):
        run(game=GAME, log=str(log), phh=None, out=str(tmp_path))


def test_no_log_and_no_hands(tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match="there is no log"):
        run(game=GAME, log=str(tmp_path / "none.log"), phh=None, out=str(tmp_path))
    (tmp_path / "empty.log").write_text("# nothing\n")
    with pytest.raises(PokernetsError, match="holds no hands"):
        run(game=GAME, log=str(tmp_path / "empty.log"), phh=None, out=str(tmp_path))
