"""Tables side by side: the same hands as one after the other, with decisions asked for together.

Actions that our client draws at a dealer are as frequent as its notes of the hands held say.

Processes of a match: the units of work that they are given at a time, and the agents that they build.
"""

import math
import pickle
import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from poker.abstraction.loading import game_cards
from poker.agents.base import Agent, hand_number
from poker.agents.blueprint import BlueprintAgent
from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.formats.acpc.log import match_state_text
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy
from poker.play.lineup import AgentSpec, LineUp, Rotation, Task
from poker.play.network.client import DealerSeat
from poker.play.notes import Notes
from poker.play.session import SessionRecord, shares_tables
from poker.play.workers import Worker, _units
from poker.run.errors import PokernetsError
from poker.solve.types import SolverSettings
from poker.store.artifacts import write_artifact
from poker.tree import bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.devices import CUDA
from tests.games import HEADS_UP as HOLDEM
from tests.games import LEDUC, load_rules
from tests.random_play import random_action
from tests.search.even_leaf import even_solver

MENU = bet_menu(preflop=[["a"], []], flop=[[1.0], []], turn=[[1.0], []], river=[[1.0], []])


class Counting(RandomAgent):
    """Notes how many states it is asked about at once; with `fails` it cannot be asked about several."""

    sizes: list[int] = []  # noqa: RUF012 - of all copies

    def __init__(self, fails: bool = False) -> None:
        super().__init__(name="random", raises=[1])
        self.fails = fails

    def policies(self, states: Sequence[HandState]) -> list[Policy]:
        self.sizes.append(len(states))
        if self.fails and len(states) > 1:
            raise ValueError("too many")
        return super().policies(states)


class Learning(AlwaysCall):
    """Folds to bets once it has seen two hands end."""

    def __init__(self) -> None:
        super().__init__(name="learning")
        self.seen = 0

    def reset(self, seed: int) -> None:
        self.seen = 0

    def act(self, state: HandState) -> int:
        return FOLD if state.legal().fold and self.seen > 1 else CALL

    def end_hand(self, state: HandState) -> None:
        self.seen += 1


class Failing(AlwaysCall):
    def policy(self, state: HandState) -> Policy:
        raise ValueError("no policy here")


AGENTS: dict[str, Callable[[], Agent]] = {
    "random": Counting,
    "raise": partial(AlwaysRaise, name="raise", raises=[1]),
    "learning": Learning,
    "failing": partial(Failing, name="failing"),
}


def records(lineup: tuple[str, ...], tables: int, session: int, sessions: int = 5) -> dict[int, SessionRecord]:
    players = len(lineup)
    rules = LEDUC if players == 2 else load_rules("holdem_limit_3p")
    worker = Worker(
        Rotation(rules, 3, session), {name: AgentSpec(name, build, {}) for name, build in AGENTS.items()}, tables=tables
    )
    table = LineUp(lineup)
    return {number: record for (_, number), record in worker.play_all([(table, n) for n in range(sessions)])}


@pytest.mark.parametrize(
    "lineup", [("random", "random"), ("learning", "random"), ("failing", "raise"), ("random", "learning", "raise")]
)
@pytest.mark.parametrize("session", [1, 4])
def test_hands_do_not_depend_on_the_number_of_tables(lineup: tuple[str, ...], session: int) -> None:
    alone = records(lineup, 1, session)
    for tables in (3, 100):
        played = records(lineup, tables, session)
        assert played.keys() == alone.keys()
        for number, record in played.items():
            assert record.lines == alone[number].lines
            assert record.payoffs == alone[number].payoffs
            assert [(one.hand, one.error) for one in record.incidents] == [
                (one.hand, one.error) for one in alone[number].incidents
            ]
            assert {key: len(times) for key, times in record.seconds.items()} == {
                key: len(times) for key, times in alone[number].seconds.items()
            }


def test_agents_are_queried_for_all_tables_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counting, "sizes", [])
    records(("random", "raise"), 6, 1)
    assert max(Counting.sizes) > 3
    assert sum(Counting.sizes) > 2 * len(Counting.sizes)
    failing = Counting(fails=True)
    monkeypatch.setitem(AGENTS, "random", lambda: failing)
    assert not any(record.incidents for record in records(("random", "raise"), 6, 1).values())


def test_agents_that_learn_or_act_for_themselves_are_not_shared() -> None:
    assert shares_tables(Counting())
    assert not shares_tables(Learning())
    random = Counting()
    other = random.at_another_table().at_another_table()
    assert other is not random
    assert other.original is random
    other.reset(1)
    assert isinstance(other, Agent)
    assert other._rng is not random._rng


@pytest.mark.parametrize("device", ["cpu", "torch", CUDA])
def test_depth_limited_hands_do_not_depend_on_the_number_of_tables(device: str) -> None:
    settings = SolverSettings("apdcfr_short", (4, 4, 2, 6), 1, device=device)

    agent = partial(even_solver, menu=MENU, ahead=bet_menu(river=[[], []]), solver=settings, remembered_states=2)
    builds: dict[str, Callable[[], Agent]] = {"d": agent, "random": partial(RandomAgent, name="random", raises=[0.5])}
    specs = {name: AgentSpec(name, build, {}) for name, build in builds.items()}
    table = LineUp(("d", "random"))
    tasks = [(table, number) for number in range(4)]
    alone, together = (dict(Worker(Rotation(HOLDEM, 5, 1), specs, tables=tables).play_all(tasks)) for tables in (1, 5))
    for task in tasks:
        assert together[task].lines == alone[task].lines
        assert not together[task].incidents
    assert len({len(line) for record in alone.values() for line in record.lines}) > 2


def scores(game: Rules, agent: Agent, seed: int, hands: int, folder: Path) -> dict[str, tuple[float, int]]:
    """How many standard deviations more of a kind of action were drawn than the notes say, and in how many decisions.

    Over `hands` hands against random play, in seats that change. The likeliest action is one of the kinds.
    """
    seat = DealerSeat(game, agent, seed, folder / f"{seed}.log", lambda what: None)
    cards, rng = np.random.default_rng([seed, 1]), random.Random(seed)
    drawn: list[tuple[tuple[int, int, str], int, int]] = []
    for number in range(hands):
        state, me = HandState.deal(game, cards), number % 2
        while not state.is_over:
            line = match_state_text(state.view(me), number, me)
            answer = seat.answer(line)
            if state.to_act == me:
                assert answer is not None
                action = state.betting.parse_action(answer.removeprefix(f"{line}:"))
                drawn.append(((number, me, state.betting.text()), hand_number(state, me), action))
            else:
                action = random_action(state.legal(), rng)
            state = state.apply(action)
        seat.answer(match_state_text(state.view(me), number, me))
    assert not seat.failures
    notes = Notes.read(seat.notes)
    sums = {name: [0.0, 0.0] for name in ("fold", "call", "raise", "likeliest")}
    for decision, held, action in drawn:
        actions, probs = notes.policy(decision)
        row = probs[held] / probs[held].sum()
        assert row[actions.index(action)] > 0
        signs = np.sign(actions)
        kinds = signs == -1, signs == 0, signs == 1, np.arange(len(actions)) == row.argmax()
        for into, kind in zip(sums.values(), kinds, strict=True):
            p = float(row[kind].sum())
            into[0] += bool(kind[actions.index(action)]) - p
            into[1] += p * (1 - p)
    return {name: (more / math.sqrt(variance), len(drawn)) for name, (more, variance) in sums.items()}


def test_actions_are_drawn_as_they_are_noted(tmp_path: Path) -> None:
    """A random blueprint of Leduc. Over 10 seeds of 10,000 decisions each the same sums gave z scores of -0.25 for
    raises and 0.28 for calls."""
    start = HandState.deal(LEDUC, np.random.default_rng(0)).betting
    blueprint = random_blueprint(build_tree(start), game_cards(LEDUC, ""))
    agent = BlueprintAgent(name="blueprint", blueprint=blueprint, translation_seed=0)
    for z, decisions in scores(LEDUC, agent, 1, 300, tmp_path).values():
        assert decisions > 500
        assert abs(z) < 3.5


def tasks(sessions: int) -> list[Task]:
    pairs = [LineUp((name, "caller")) for name in ("first", "second", "third")]
    return [(pair, session) for session in range(sessions) for pair in pairs]


def test_line_ups_of_a_session_form_one_task_unless_slow() -> None:
    short = _units(tasks(8), 2, seconds=1.0)
    assert [len(unit) for unit in short] == [3] * 8
    assert all(len({session for _, session in unit}) == 1 for unit in short)
    assert _units(tasks(8), 2, seconds=60.0) == [[task] for task in tasks(8)]
    assert _units(tasks(7), 2, seconds=1.0) == [[task] for task in tasks(7)], "some processes would be idle"
    assert _units([], 2, seconds=0.0) == []


def test_an_agent_whose_artifact_was_replaced_is_not_built_again(tmp_path: Path) -> None:
    def make(name: str, seed: int) -> None:
        write_artifact(tmp_path / name, "blueprint", config={"seed": seed}, arrays={})

    make("blueprint", 1)
    settings = {"name": "calls", "search": {"blueprint": str(tmp_path / "blueprint"), "net": str(tmp_path / "net")}}
    spec = pickle.loads(pickle.dumps(AgentSpec("calls", partial(AlwaysCall, name="calls"), settings)))
    worker = Worker(Rotation(load_rules("leduc"), seed=1, session=1), {"calls": spec})
    worker.play((LineUp(("calls", "calls")), 0))
    make("blueprint", 1)
    make("net", 1)
    worker.agents.clear()
    worker.play((LineUp(("calls", "calls")), 0))
    make("blueprint", 2)
    worker.agents.clear()
    with pytest.raises(PokernetsError, match="blueprint, which calls uses, was replaced: run the command again"):
        worker.play((LineUp(("calls", "calls")), 0))
