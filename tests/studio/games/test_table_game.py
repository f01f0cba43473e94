"""A person's game: what is seen, what is refused, what survives a kill."""

import json
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poker.agents.base import Agent
from poker.agents.simple import AlwaysCall, RandomAgent
from poker.formats.acpc.log import LoggedHand
from poker.formats.histories import read_hands
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, IllegalAction, Policy
from poker.play.lineup import AgentSpec
from poker.play.notes import Notes
from poker.run.errors import PokernetsError
from poker.store import lines
from poker.studio.games import table_files
from poker.studio.games.table_files import TableFiles
from poker.studio.games.table_game import Opponents, Seen, StalePageError, TableGame
from tests.games import load_rules


def spec(name: str, build: Callable[[], Agent]) -> AgentSpec:
    return AgentSpec(name, build, {})


RANDOM = spec("random", lambda: RandomAgent(name="random", raises=["0.5", "1", "a"]))


class Forgetful(Agent):
    """An agent without a policy, which fails at every second decision."""

    name = "forgetful"

    def __init__(self) -> None:
        self.calls = 0

    def reset(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def start_hand(self, seat: int) -> None:
        self.seat = seat

    def act(self, state: HandState) -> int:
        assert state.to_act == self.seat
        self.calls += 1
        if self.calls % 2:
            raise RuntimeError("it forgot")
        return CALL

    def end_hand(self, state: HandState) -> None:
        assert state.is_over


def game(rules: Rules, folder: Path, agent: AgentSpec = RANDOM, **more: Any) -> TableGame:
    return TableGame(rules, Opponents(rules, [agent]), TableFiles(folder, rules, 7), **more)


def choose(seen: Seen, rng: np.random.Generator) -> int:
    legal = seen.state.legal()
    raises = [legal.min_raise, legal.max_raise] if legal.max_raise else []
    return int(rng.choice([CALL, CALL, CALL, *raises, *([FOLD] if legal.fold else [])]))


def play(one: TableGame, hands: int, rng: np.random.Generator) -> None:
    for _ in range(hands):
        one.let_agents_act()
        while not (seen := one.seen()).state.is_over:
            one.act(seen.number, seen.step, choose(seen, rng))
            one.let_agents_act()
        one.deal(seen.number)


def test_hands_are_stored_as_log_and_histories_and_seats_alternate(rules: Rules, tmp_path: Path) -> None:
    ended: list[LoggedHand] = []
    one = game(rules, tmp_path, ended=ended.append)
    play(one, 30, np.random.default_rng(1))
    logged = one.files.hands()
    assert [hand.number for hand in logged] == [hand.number for hand in ended] == list(range(30))
    assert [hand.names.index("you") for hand in logged] == [1, 0] * 15
    read = list(read_hands(one.files.histories, rules, None))
    assert [hand.payoffs for hand in read] == [hand.payoffs for hand in logged]
    assert [hand.names for hand in read] == [hand.names for hand in logged]
    text = one.files.histories.read_text()
    game(rules, tmp_path)
    assert [hand.payoffs for hand in read_hands(one.files.histories, rules, None)] == [hand.payoffs for hand in logged]
    assert len(one.files.histories.read_text()) == len(text) - 1


def test_actions_are_those_that_the_noted_policy_draws(rules: Rules, tmp_path: Path) -> None:
    one = game(rules, tmp_path)
    play(one, 20, np.random.default_rng(2))
    notes = Notes.read(one.files.notes)
    decisions = 0
    for hand in one.files.hands():
        for before, player, action in hand.state.betting.turns():
            if hand.names[player] == "random":
                actions, probs = notes.policy((hand.number, player, before.text()))
                assert probs[0, actions.index(action)] > 0
                decisions += 1
    assert decisions == len(notes.lines) > 20
    assert len(one.thought) == decisions


def test_nobody_sees_the_cards_of_others_before_a_showdown(rules: Rules, tmp_path: Path) -> None:
    one = game(rules, tmp_path)
    rng = np.random.default_rng(3)
    revealed = hidden = 0
    for _ in range(40):
        seen_states = []
        one.let_agents_act()
        while not (seen := one.seen()).state.is_over:
            seen_states.append(seen)
            one.act(seen.number, seen.step, choose(seen, rng))
            seen_states.append(one.seen())
            one.let_agents_act()
        for state in (before.state for before in seen_states if not before.state.is_over):
            assert state.hole_cards[1 - seen.seat] == ()
            assert len(state.runout) == len(state.board)
        showdown = seen.state.betting.is_showdown
        assert bool(seen.state.hole_cards[1 - seen.seat]) == showdown
        revealed, hidden = revealed + showdown, hidden + (not showdown)
        one.deal(seen.number)
    assert min(revealed, hidden) > 3


def test_illegal_or_late_actions_change_nothing(rules: Rules, tmp_path: Path) -> None:
    one = game(rules, tmp_path)
    rng = np.random.default_rng(4)
    words: list[Any] = [FOLD, CALL, -2, -99, 1, 99, 10**30, True, None, "0", 1.5, float("nan"), [], {}, 20001, 150]
    refused = accepted = 0
    for _ in range(20_000):
        one.let_agents_act()
        seen, version = one.seen(), one.version
        action = words[rng.integers(len(words))] if rng.random() < 0.7 else int(rng.integers(-1, 20_010))
        number, step = seen.number + int(rng.integers(-1, 2)), seen.step + int(rng.integers(-1, 2))
        try:
            if seen.state.is_over and rng.random() < 0.5:
                one.deal(number)
            else:
                one.act(number, step, action)
            accepted += 1
            assert seen.number == number
        except PokernetsError:
            refused += 1
            assert one.version == version
            assert one.seen() == seen
    assert refused > 10_000
    assert accepted > 500
    assert [hand.number for hand in one.files.hands()] == list(range(one.seen().number + one.seen().state.is_over))


def test_refused_actions_have_a_reason(rules: Rules, tmp_path: Path) -> None:
    one = game(rules, tmp_path)
    with pytest.raises(IllegalAction, match="raise to 150"):
        one.act(0, 0, 150)
    with pytest.raises(IllegalAction, match="an action is a whole number, not 'x'"):
        one.act(0, 0, "x")  # type: ignore[arg-type]
    with pytest.raises(StalePageError, match="this page is out of date"):
        one.act(0, 1, CALL)
    one.act(0, 0, CALL)
    with pytest.raises(StalePageError, match="not your turn"):
        one.act(0, 1, CALL)
    with pytest.raises(StalePageError, match="when the current one is over"):
        one.deal(0)


@pytest.mark.parametrize("agent", [RANDOM, spec("forgetful", Forgetful)])
def test_game_continues_after_a_kill_at_any_action(rules: Rules, tmp_path: Path, agent: AgentSpec) -> None:
    """Every step in a game made anew from the files; the hands are those of a game that was never killed."""
    rng, again = np.random.default_rng(5), np.random.default_rng(5)
    whole = game(rules, tmp_path / "whole", agent)
    play(whole, 12, rng)
    one = game(rules, tmp_path / "killed", agent)
    while one.seen().number < 12:
        one = game(rules, tmp_path / "killed", agent)
        one.let_agents_act()
        seen = one.seen()
        one = game(rules, tmp_path / "killed", agent)
        assert one.seen() == seen
        if seen.state.is_over:
            one.deal(seen.number)
        else:
            one.act(seen.number, seen.step, choose(seen, again))
    if agent is RANDOM:  # the other one forgets what it counted
        assert one.files.log.read_text() == whole.files.log.read_text()
    assert [hand.number for hand in one.files.hands()] == list(range(12))


def test_kill_between_the_last_action_and_the_log(rules: Rules, tmp_path: Path) -> None:
    one = game(rules, tmp_path)
    one.act(0, 0, FOLD)
    whole = one.files.log.read_text()
    one.files.log.write_text(whole[: whole.index("STATE") + 20])
    again = game(rules, tmp_path)
    assert again.files.log.read_text() == whole
    assert again.seen().state.is_over


def test_the_cards_to_come_are_for_the_owner_of_the_files_alone(rules: Rules, tmp_path: Path) -> None:
    game(rules, tmp_path)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("secret.json", "hand.json")] == [0o600] * 2


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b"null", b"true", b"-5", b"1.5", b'"7"', b"\xff\xfe", b"1e999", b"9" * 9999, b"[" * 99_999],
)
def test_a_damaged_secret_is_named(rules: Rules, tmp_path: Path, damage: bytes) -> None:
    TableFiles(tmp_path, rules)
    (tmp_path / "secret.json").write_bytes(damage)
    with pytest.raises(PokernetsError, match=r"secret\.json is damaged.*Delete it"):
        TableFiles(tmp_path, rules)


def test_damaged_file_is_named(rules: Rules, tmp_path: Path) -> None:
    one = game(rules, tmp_path)
    path = tmp_path / "hand.json"
    row = json.loads(path.read_text())
    changes: list[dict[str, object]] = [
        {"betting": "r1"},
        {"runout": [1, 1]},
        {"runout": [4, 5]},
        {"hole_cards": [[], []]},
    ]
    infinite = json.dumps({**row, "hand": -1}).replace("-1", "1e999", 1)
    for text in ("", "[]", infinite, *(json.dumps({**row, **change}) for change in changes)):
        path.write_text(text)
        with pytest.raises(PokernetsError, match=r"hand\.json is damaged"):
            game(rules, tmp_path)
    path.unlink()
    assert game(rules, tmp_path).seen() == one.seen()


def test_failing_agent_checks_or_folds_and_is_reported(rules: Rules, tmp_path: Path) -> None:
    class Broken(AlwaysCall):
        def policy(self, state: HandState) -> Policy:
            raise RuntimeError("broken")

    one = game(rules, tmp_path, spec("broken", lambda: Broken(name="broken")))
    one.act(0, 0, 300)
    one.let_agents_act()
    assert one.seen().state.betting.text() == "r300f"
    assert [incident.error.partition(" (")[0] for incident in one.incidents] == ["RuntimeError: broken"]
    assert list(Notes.read(one.files.notes).lines.values()) == [None]


def test_failed_writes_are_repeated_and_change_nothing(
    rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = game(rules, tmp_path / "whole")
    play(whole, 12, np.random.default_rng(8))
    ended: list[LoggedHand] = []
    one = game(rules, tmp_path / "flaky", ended=ended.append)
    failed: set[str] = set()

    def flaky(write: Callable[..., None]) -> Callable[..., None]:
        def attempt(path: Path, data: Any, **more: Any) -> None:
            if draws.random() < 0.3:
                failed.add(path.name)
                raise OSError(28, "No space left on device", str(path))
            write(path, data, **more)

        return attempt

    def until_written(step: Callable[[], None]) -> None:
        while True:
            try:
                return step()
            except OSError:
                assert one.seen().thinking is None

    def act(seen: Seen, action: int) -> None:
        if one.seen() == seen:  # else the hand is over, though not in the log
            one.act(seen.number, seen.step, action)

    draws, rng = np.random.default_rng(9), np.random.default_rng(8)
    for module, name in ((table_files, "write_atomically"), (table_files, "append_lines"), (lines, "append_lines")):
        monkeypatch.setattr(module, name, flaky(getattr(module, name)))
    for _ in range(12):
        until_written(one.let_agents_act)
        while not (seen := one.seen()).state.is_over:
            until_written(partial(act, seen, choose(seen, rng)))
            until_written(one.let_agents_act)
        until_written(partial(one.deal, seen.number))
    assert failed == {"hand.json", "hands.log", "hands.policies.jsonl", "hands.phhs"}
    assert one.files.log.read_text() == whole.files.log.read_text()
    assert [hand.number for hand in ended] == list(range(12))
    monkeypatch.undo()
    game(rules, tmp_path / "flaky")
    assert one.files.histories.read_text().strip() == whole.files.histories.read_text().strip()


def test_shared_agent_sees_every_hand_of_every_game(rules: Rules, tmp_path: Path) -> None:
    """The agent's clock grants it time at the start of each hand."""

    class Told(AlwaysCall):
        def start_hand(self, seat: int) -> None:
            seats.append(seat)

    seats: list[int] = []
    opponents = Opponents(rules, [spec("told", lambda: Told(name="told"))])
    for name in ("ann", "bob"):
        play(TableGame(rules, opponents, TableFiles(tmp_path / name, rules, 7)), 3, np.random.default_rng(1))
    assert seats == [0, 1, 0] * 2


def test_six_seats(tmp_path: Path) -> None:
    rules = load_rules("holdem_nolimit_6p")
    opponents = Opponents(rules, [RANDOM, spec("forgetful", Forgetful)])
    one = TableGame(rules, opponents, TableFiles(tmp_path, rules, 1))
    play(one, 12, np.random.default_rng(6))
    logged = one.files.hands()
    assert [hand.names.index("you") for hand in logged] == [5, 4, 3, 2, 1, 0] * 2
    for hand in logged:
        seat = hand.names.index("you")
        around = [hand.names[(seat + i) % 6] for i in range(6)]
        assert around == ["you", "random", "forgetful", "random#2", "forgetful#2", "random#3"]


def test_tables_that_cannot_be_are_refused(rules: Rules) -> None:
    for specs in ([], [RANDOM, RANDOM], [spec("you", RANDOM.factory)]):
        with pytest.raises(PokernetsError, match="`agents` must be 1 to 1 different ones, none of them named `you`"):
            Opponents(rules, specs)
    for name in ("josé", "a b"):
        with pytest.raises(PokernetsError, match=f"player name `{name}`: a name in a log is ASCII"):
            Opponents(rules, [spec(name, RANDOM.factory)])
