"""The running result of a game is that of a replay of its log and notes."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from poker.agents.simple import RandomAgent
from poker.evaluation.matches.noted import RunningResult
from poker.formats.acpc.log import LoggedHand
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState, Policy
from poker.play.lineup import AgentSpec
from poker.run.errors import PokernetsError
from poker.studio.games.table_files import TableFiles
from poker.studio.games.table_game import Opponents, TableGame
from tests.games import load_rules
from tests.matches import replayed

HANDS = 16


class Moody(RandomAgent):
    """Fails at a decision that comes up."""

    def policy(self, state: HandState) -> Policy:
        if state.betting.text() == "c":
            raise RuntimeError("it failed")
        return super().policy(state)


@pytest.fixture(scope="module", params=[RandomAgent, Moody])
def played(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[TableGame, RunningResult, Path]:
    """A game with its running result, taken up again from the files half-way; and the file of estimates."""
    folder = tmp_path_factory.mktemp("game")
    rules = load_rules("holdem_nolimit_2p")
    spec = AgentSpec("random", lambda: request.param(name="random", raises=["1"]), {})
    rng = np.random.default_rng(3)
    for hands in (HANDS // 2, HANDS):
        files = TableFiles(folder, rules, 11)
        result = RunningResult(rules, "you", files.notes, folder / "aivat.jsonl")
        result.add(files.hands())
        game = TableGame(rules, Opponents(rules, [spec]), files)
        game.ended = partial(_add, result)
        while len(result.chips) < hands:
            game.let_agents_act()
            seen = game.seen()
            if seen.state.is_over:
                game.deal(seen.number)
            else:
                fold = [FOLD] if seen.state.legal().fold else []
                game.act(seen.number, seen.step, int(rng.choice([CALL, CALL, CALL, *fold])))
    return game, result, folder / "aivat.jsonl"


def _add(result: RunningResult, hand: LoggedHand) -> None:
    result.add([hand])


def test_is_that_of_a_replay(played: tuple[TableGame, RunningResult, Path], tmp_path: Path) -> None:
    game, result, _ = played
    lineup = replayed(game.rules, game.files.log, tmp_path / "replay", notes=[str(game.files.notes)])
    entry = lineup.lineup.players.index("you")
    assert len(result.chips) == HANDS
    assert str(result.per_hundred(10 * np.array(result.chips))) == str(lineup.estimates()[entry])
    if lineup.unknown:
        assert result.adjusted is None
    else:
        assert result.adjusted is not None
        mine, theirs = result.per_hundred(10 * np.array(result.adjusted)), lineup.estimates(aivat=True)[entry]
        assert (mine.mean, mine.low, mine.high) == pytest.approx((theirs.mean, theirs.low, theirs.high), rel=1e-12)
        assert mine.half_width < result.per_hundred(10 * np.array(result.chips)).half_width


def test_estimates_are_stored(played: tuple[TableGame, RunningResult, Path], tmp_path: Path) -> None:
    game, result, file = played
    again = RunningResult(game.rules, "you", tmp_path / "nothing", file)
    again.add(game.files.hands())
    assert again.chips == result.chips
    assert again.adjusted == result.adjusted


@pytest.mark.parametrize("line", ["5", '"ab"', "[1]", "[1e999, 0]", "{}", "[" * 99_999])
def test_damaged_estimates_are_named(played: tuple[TableGame, RunningResult, Path], tmp_path: Path, line: str) -> None:
    (tmp_path / "aivat.jsonl").write_text(f"{line}\n")
    with pytest.raises(PokernetsError, match=r"aivat\.jsonl has a line that is not .* delete the file"):
        RunningResult(played[0].rules, "you", tmp_path / "nothing", tmp_path / "aivat.jsonl")


def test_unwritten_estimates_are_computed_again(played: tuple[TableGame, RunningResult, Path], tmp_path: Path) -> None:
    game, result, _ = played
    file = tmp_path / "later" / "aivat.jsonl"
    again = RunningResult(game.rules, "you", game.files.notes, file)
    with pytest.raises(FileNotFoundError):
        again.add(game.files.hands())
    file.parent.mkdir()
    again.add(game.files.hands())
    assert again.chips == result.chips
    assert again.adjusted == result.adjusted
