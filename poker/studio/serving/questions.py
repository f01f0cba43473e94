"""Questions of other programs and their answers in JSON: the Python interface, within limits.

They come over HTTP at the table's server (`web.py`), or from a language model (`mcp.py`). A spot that is expected to
take more than `SECONDS` is refused with its cost. The docstrings of the questions are published as their descriptions.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import anyio.to_thread
import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from poker.formats.histories import hands_of, owner, text_of
from poker.formats.played import HistoryError, PlayedHand
from poker.game.cards import RARE, hand_index, hand_text
from poker.game.rules import Rules
from poker.kernels.types import Columns
from poker.opponents.profiles import profile_columns, profiles_in
from poker.play.lineup import AgentSpec
from poker.run.errors import PokernetsError, printable
from poker.run.limits import MOST_RANGE_CHARACTERS
from poker.spots.explorer import json_columns, json_number, totals
from poker.spots.report import SEATS
from poker.spots.solved import solve
from poker.studio.games.pool import Call, Pool
from poker.studio.hands.hand_file import in_chips_of, why_not
from poker.studio.serving.answers import AgentAnswer, HandAnswer, ProfileAnswer, SpotAnswer
from poker.studio.serving.loaded_agent import LoadedAgent, action_name

SECONDS = 60.0
"""Most seconds of a solve."""
MEMORY_GIB = 1.0
"""Most memory of a solve."""
_TEXT_BYTES = 900_000
"""Most characters of a hand; a request has up to 1 MiB."""
_MOST_PROFILES = 20
"""Most players in an answer."""
MOST_WAITING = 16
"""Most questions that wait while another is answered."""
LIMITS = (
    f"The server answers one question at a time, while up to {MOST_WAITING} wait. It refuses solves that usually need"
    f" more than {SECONDS:g} s or {MEMORY_GIB:g} GiB."
)
_REVIEWER = ""


class BusyError(PokernetsError):
    """Too many questions wait for an answer."""


class Question(BaseModel):
    """A question of another program."""

    model_config = ConfigDict(extra="forbid")


class SpotQuestion(Question):
    """Solve a spot of heads-up no-limit hold'em exactly, from the flop, turn or river on.

    The answer has the strategy of the player who acts after `words`: for every hand, the frequency and the value in
    chips of each action.
    """

    board: str = Field(max_length=20, description="3, 4 or 5 cards", examples=["QsJh2h8d3c"])
    oop_range: str = Field(
        max_length=MOST_RANGE_CHARACTERS, description="hands of the player who acts first", examples=["AA-88,AKs-A9s"]
    )
    ip_range: str = Field(
        max_length=MOST_RANGE_CHARACTERS, description="hands of the other player", examples=["JJ-22,AQs-A2s,KQo:0.5"]
    )
    pot: int = Field(description="chips in the pot", examples=[60])
    stack: int = Field(description="chips that each player has left", examples=[270])
    bets: dict[str, str] = Field(
        max_length=40,
        description="sizes of `bet` and `raise`: percentages of the pot, `a` for all-in, `e` for a geometric size, or"
        " multiples of a bet such as `2.5x`; keys such as flop_bet, oop_turn_raise or river_donk are more specific",
        examples=[{"bet": "50%,a", "raise": "60%"}],
    )
    words: str = Field(
        default="", max_length=500, description="the actions so far, as in `check bet30 call 2c`", examples=["check"]
    )
    exploitability: float = Field(default=0.003, gt=0, le=1, description="stop at this fraction of the pot")


class AgentQuestion(Question):
    """Get the probabilities of an agent's actions, with one hand or with all hands that the player to act can have.

    `weight` is the probability that the agent acts like this with the hand, relative to the likeliest hand.
    Probabilities are null for hands outside its range; a given `hand` is always solved.
    """

    betting: str = Field(
        default="",
        max_length=1000,
        description="all actions so far, without blinds: f, c (check or call), r with the player's total chips in the"
        " hand; a `/` between rounds",
        examples=["r300c/cr600"],
    )
    board: str = Field(default="", max_length=20, description="cards of the board so far", examples=["Ks9d4c"])
    hand: str = Field(default="", max_length=10, description="cards of the player to act", examples=["KhJd"])
    agent: str = Field(default="", max_length=100, description="name of the agent, if there are several")


class HandQuestion(Question):
    """Review the decisions of a player in a hand of heads-up no-limit hold'em.

    For each decision the answer has the strategy of sound play, the value of each action, and the loss of the action
    taken, in big blinds.
    """

    text: str = Field(
        max_length=_TEXT_BYTES,
        description="a hand history of PokerStars, Bovada, Winamax, partypoker or 888, PHH or OHH; the first hand that"
        " can be reviewed is used",
        examples=["PokerStars Hand #7: Hold'em No Limit ..."],
    )
    player: str = Field(default="", max_length=200, description="player to review; default: the one with known cards")


class ProfileQuestion(Question):
    """Compute statistics of players from their hand histories.

    They are VPIP, PFR, three-bet, c-bet, fold to c-bet, WTSD and AF, each with its counts.
    """

    text: str = Field(
        max_length=_TEXT_BYTES,
        description="hand histories of PokerStars, Bovada, Winamax, partypoker or 888, PHH, OHH or ACPC logs, with any"
        " number of players",
        examples=["PokerStars Hand #7: Hold'em No Limit ..."],
    )
    player: str = Field(
        default="", max_length=200, description=f"a player; default: the {_MOST_PROFILES} players with most hands"
    )


class QuestionKind(NamedTuple):
    """A kind of questions.

    Attributes:
        title: title of the address or tool.
    """

    title: str
    question: type[Question]
    answer: type[BaseModel]


KINDS: dict[str, QuestionKind] = {
    "solve": QuestionKind("Solve a spot", SpotQuestion, SpotAnswer),
    "ask": QuestionKind("Ask an agent", AgentQuestion, AgentAnswer),
    "review": QuestionKind("Review a hand", HandQuestion, HandAnswer),
    "profile": QuestionKind("Compute statistics of players", ProfileQuestion, ProfileAnswer),
}
"""Kinds of questions by the name of the address or tool."""


class Desk:
    """Answers questions one at a time in its own process, which starts with the first question.

    Args:
        agents: the agents that can be queried.
        reviewer: the agent that reviews if none of `agents` solves.
        threads: threads of a solve.
        processes: processes, as in `Pool`.
    """

    def __init__(
        self, game: Rules, agents: Sequence[AgentSpec], reviewer: AgentSpec | None, threads: int, processes: int | None
    ) -> None:
        """Set up the pool."""
        build = partial(_Answers, game, tuple(agents), reviewer, threads)
        self._pool = Pool({"": build}, processes, background=True)

    def answer(self, question: Question) -> dict[str, Any]:
        """Return the answer in JSON values.

        Raises:
            PokernetsError: the question cannot be answered.
        """
        answer: dict[str, Any] = self._pool.ask("", Call("", "to", (question,)))
        return answer


class Queue:
    """Questions that wait for a desk, which answers one at a time.

    They wait without a thread, so that they do not hold up pages and files, which are served by threads.
    """

    def __init__(self, desk: Desk) -> None:
        """Start with nobody waiting."""
        self._desk, self._turn, self._length = desk, anyio.CapacityLimiter(1), 0

    async def answer(self, question: Question) -> dict[str, Any]:
        """Return the answer in JSON values, after those of earlier questions.

        Raises:
            BusyError: `MOST_WAITING` questions wait.
            PokernetsError: the question cannot be answered.
        """
        if self._length > MOST_WAITING:
            raise BusyError(f"{MOST_WAITING} questions wait for their answers: send this one again later")
        self._length += 1
        try:
            return await anyio.to_thread.run_sync(self._desk.answer, question, limiter=self._turn)
        finally:
            self._length -= 1


class _Answers:
    """The answers of a `Desk`, whose agents are built when they are first needed."""

    def __init__(self, game: Rules, agents: tuple[AgentSpec, ...], reviewer: AgentSpec | None, threads: int) -> None:
        self._game, self._specs, self._threads = game, {spec.name: spec for spec in agents}, threads
        self._reviewer = reviewer
        self._built: dict[str, LoadedAgent] = {}

    def to(self, question: Question) -> dict[str, Any]:
        match question:
            case SpotQuestion():
                return self._solve(question)
            case AgentQuestion():
                return self._ask(question)
            case ProfileQuestion():
                return _profile(question, self._game)
        assert isinstance(question, HandQuestion)
        return self._review(question)

    def _agent(self, name: str) -> LoadedAgent:
        spec = self._reviewer if name == _REVIEWER else self._specs.get(name)
        if spec is None:
            raise PokernetsError(f"unknown agent `{name[:100]}`; choose from {', '.join(self._specs)}")
        if name not in self._built:
            self._built[name] = LoadedAgent(spec.build(self._game), self._game)
        return self._built[name]

    def _solve(self, question: SpotQuestion) -> dict[str, Any]:
        spot = question.model_dump(exclude={"bets", "words", "exploitability"})
        if twice := spot.keys() & question.bets.keys():
            raise PokernetsError(f"`bets` has `{min(twice)}`, which is a field of the question: remove it from `bets`")
        solved = solve(
            {**question.bets, **spot},
            exploitability=question.exploitability,
            threads=self._threads,
            memory_gib=MEMORY_GIB,
            seconds=SECONDS,
        )
        view = solved.view(question.words)
        return {
            "ev": dict(zip(("oop", "ip"), map(json_number, solved.ev), strict=True)),
            "exploitability": json_number(solved.exploitability),
            "finished": solved.exploitability <= question.exploitability * question.pot,
            "player": None if view.player is None else SEATS[view.player],
            "actions": totals(view),
            "hands": json_columns(solved.strategy(question.words)),
        }

    def _ask(self, question: AgentQuestion) -> dict[str, Any]:
        loaded = self._agent(question.agent or next(iter(self._specs)))
        state = loaded.state(question.betting, question.board, question.hand)
        if state.is_over:
            raise PokernetsError(f"nobody acts after `{question.betting}`: the hand is over")
        facts = {"agent": loaded.agent.name, "player": state.to_act, "pot": state.betting.pot}
        if not loaded.agent.has_policy:
            if not question.hand:
                raise PokernetsError(f"`{loaded.agent.name}` has no policy for all hands: give it a `hand`")
            return {**facts, "action": action_name(state, loaded.act(state))}
        table = loaded.strategy(state)
        if question.hand:
            cards = state.hole_cards[state.to_act]
            name = hand_text(hand_index(*cards)) if len(cards) == 2 else self._game.cards_text(cards)
            table = {key: column[table["hand"] == name] for key, column in table.items()}
        return {**facts, **_note(table), "hands": json_columns(table)}

    def _review(self, question: HandQuestion) -> dict[str, Any]:
        errors, left_out = list[HistoryError](), Counter[str]()
        text = text_of(question.text.encode())
        hands = list(hands_of(text, "the text", self._game, errors.append))
        fitting = (hand for hand in hands if not why_not(hand, self._game))
        seats = (seat for hand in fitting for seat in zip(hand.names, hand.state.hole_cards, strict=True))
        player = question.player or owner(text, Counter(name for name, cards in seats if cards))
        chosen = list[tuple[int, PlayedHand]]()
        for number, hand in enumerate(hands):
            try:
                in_chips_of(self._game, hand, player)
                chosen.append((number, hand))
            except PokernetsError as error:
                left_out[str(error)] += 1
        if not chosen:
            reasons_given = [*(f"{reason} ({count})" for reason, count in left_out.items()), *map(str, errors)]
            raise PokernetsError(f"no hand can be reviewed: {'; '.join(reasons_given[:5])}")
        number, hand = chosen[0]
        names = [*self._specs, *([] if self._reviewer is None else [_REVIEWER])]
        solvers = (self._agent(name) for name in names)
        reviewer = next((one for one in solvers if one.solves), None)
        if reviewer is None:
            raise PokernetsError("reviews need an agent that solves: agents@reviewer=depth_limited")
        decisions = json_columns(reviewer.review(hand, player))
        if len(chosen) > 1:
            left_out["only one hand is reviewed at a time"] += len(chosen) - 1
        return {
            "hand": number,
            "player": player,
            "decisions": decisions,
            "not_reviewed": {"decisions": reviewer.not_reviewed(hand, player), "hands": dict(left_out)},
        }


def _note(table: Columns) -> dict[str, str]:
    """Return a note on hands that the agent is not expected to have, if a table of a strategy has any."""
    hands, weights, probabilities = table["hand"], table["weight"], list(table.values())[2]
    unsolved = int(np.isnan(probabilities).sum())
    if unsolved:
        return {"note": f"{unsolved:,} of {len(hands):,} hands are null: they are outside the agent's range"}
    if len(hands) == 1 and weights[0] < RARE:
        return {"note": f"{hands[0]} is outside the agent's range, so it was solved separately"}
    return {}


def _profile(question: ProfileQuestion, game: Rules) -> dict[str, Any]:
    profiles, unreadable = profiles_in("the text", question.text.encode(), game)
    if question.player and question.player not in profiles:
        raise PokernetsError(f"unknown player {question.player}; the hands have {', '.join(list(profiles)[:10])}")
    names = [question.player] if question.player else list(profiles)[:_MOST_PROFILES]
    table = json_columns(profile_columns({name: profiles[name] for name in names}))
    return {"unreadable": unreadable, "others": len(profiles) - len(names), "profiles": table}


def described(kind: type[BaseModel]) -> str:
    """Return the docstring of a question or answer as one line."""
    return " ".join(str(kind.__doc__).split())


def reasons(errors: Iterable[Mapping[str, Any]]) -> str:
    """Return why a question is invalid, from pydantic's `errors()`, without the question's own text."""
    return printable("; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in errors))
