"""`evaluate=benchmark`, one of our agents at a public service, and `evaluate=serve`, a server of the same protocols.

A journal keeps every answer of the service and every action before it is sent, so that a match that was killed goes on
with the hand in progress. A hand that cannot go on, for want of an answer, is told and counts as not played; no action
is sent twice. The agent's policy is noted at each decision: AIVAT knows it where the service shows all cards.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rich.console import Console

from poker.errors import PokernetsError
from poker.evaluation.aivat.value_functions import CheckDownValues, ValueFunctionFactory
from poker.evaluation.matches.acpc import report_hands
from poker.evaluation.matches.match_results import MatchResults
from poker.evaluation.matches.noted import NotedAivat
from poker.evaluation.matches.results import chip_value
from poker.formats.acpc.log import cards_text, read_log
from poker.lines import JsonLines
from poker.lock import alone
from poker.play.client import DealerSeat, warm_up
from poker.play.lineup import AgentSpec
from poker.play.service_table import ServiceTable, serve_table
from poker.play.services import SERVICES, Line, LostAnswer, Service, ServiceHand
from poker.progress import progress_bars
from poker.report.estimates import estimate
from poker.rules import Rules

_TRIES = 10
"""Lost hands in a row after which there is no use in going on."""


def run(
    *,
    game: Rules,
    agents: Sequence[AgentSpec],
    api: Literal["slumbot", "gtowizard"],
    hands: int,
    seed: int,
    url: str | None,
    key: str | None,
    seconds: float,
    out: str,
    values: Callable[[], ValueFunctionFactory] = CheckDownValues,
) -> MatchResults:
    """Play until `hands` hands have ended, those of earlier runs included, and report what the agent won.

    `url` is another server of the same protocol, `key` the name of the environment variable with the key, `seconds` the
    least time between two requests.
    """
    if len(agents) != 1 or api not in SERVICES or hands < 1:
        raise PokernetsError(f"one agent plays `hands` hands at api={'|'.join(SERVICES)}: agents=[NAME]")
    [spec] = agents
    secret = None if key is None else os.environ.get(key)
    if key is not None and not secret:
        raise PokernetsError(f"the environment variable {key}, which `key` names, does not hold a key")
    line = Line(url or SERVICES[api].URL, {} if secret is None else {"X-API-Key": secret}, seconds)
    folder = Path(out) / game.name / f"{api}-{spec.name}-seed{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder, f"another benchmark writes to {folder}"):
        warm_up(game, spec.build(game))
        match = _Match(game, spec, SERVICES[api](game, line), folder, seed)
        with progress_bars("hands") as bars:
            bar = bars.add_task(f"{spec.name} at {line.url}", total=hands, completed=match.ended, found="")
            while match.ended < hands:
                match.play_on()
                bars.update(bar, completed=match.ended)
        return match.report(f"{spec.name} at {line.url}", values())


class _Match:
    """A match in `folder`: its journal, the hands that have `ended`, the seat that answers for the agent."""

    def __init__(self, game: Rules, spec: AgentSpec, service: Service, folder: Path, seed: int) -> None:
        self._game, self._service, self._seed = game, service, seed
        self._journal = JsonLines(folder / "journal.jsonl")
        self._journal.cut_unfinished()
        self._over: dict[int, ServiceHand] = {}
        self._lost: dict[int, tuple[str, str]] = {}
        """Name and reason of hands without an end, by number; one that is found later ends as another."""
        self._open: tuple[ServiceHand, bool] | None = None
        """The hand in progress, and whether an action was sent that is not answered."""
        self._next = 0
        hands: dict[int, dict[str, Any]] = {}
        for row in self._journal.rows():
            hands.setdefault(row["hand"], {}).update({"sends": None, **row})
        for row in hands.values():
            self._take(row)
        begun = int(np.random.SeedSequence([seed, self._next]).generate_state(1)[0])
        self._failures: list[str] = []
        self.seat = DealerSeat(game, spec.build(game), begun, folder / "hands.log", self._failures.append)
        logged = {hand.number for hand in read_log(game, self.seat.log)} if self.seat.log.exists() else set()
        for number in self._over.keys() - logged:
            self._answer(number, self._over[number])

    @property
    def ended(self) -> int:
        return len(self._over)

    def play_on(self) -> None:
        """Play the hand in progress, or the next, to its end."""
        number = self._next
        try:
            hand = self._resumed() or self._told(number, self._service.begin())
            while hand.won is None:
                if hand.state.to_act != hand.player:
                    raise LostAnswer(f"after `{hand.state.betting.text()}` it is not our turn")
                action = self._answer(number, hand)
                self._note({"hand": number, "sends": action})
                hand = self._told(number, self._acted(hand, action))
            self._answer(number, hand)
        except LostAnswer as error:
            self._note({"hand": number, "lost": str(error)})
            if all(last in self._lost for last in range(number - _TRIES + 1, number + 1)):
                raise PokernetsError(f"{_TRIES} hands in a row were lost, the last since {error}") from error

    def _resumed(self) -> ServiceHand | None:
        if self._open is None:
            return None
        hand, sent = self._open
        found = self._service.found(hand) if sent else hand
        if found is None:
            raise LostAnswer("the match was killed before the answer came")
        return found

    def _acted(self, hand: ServiceHand, action: int) -> ServiceHand:
        """The hand after the action, or as it is found where the answer was lost."""
        try:
            return self._service.act(hand, action)
        except LostAnswer as error:
            found = self._service.found(hand)
            if found is None:
                raise
            if found.state.betting == hand.state.betting:  # not carried out
                return self._service.act(hand, action)
            self._failures.append(f"an answer was lost ({error}), and the hand found again")
            return found

    def _answer(self, number: int, hand: ServiceHand) -> int:
        """The agent's action; none where the hand is over, which the agent is told."""
        state = hand.state
        text = f"MATCHSTATE:{hand.player}:{number}:{state.betting.text()}:{cards_text(state)}"
        answer = self.seat.answer(text)
        return 0 if answer is None else state.betting.parse_action(answer[len(text) + 1 :])

    def _told(self, number: int, hand: ServiceHand) -> ServiceHand:
        self._note({"hand": number, "answer": hand.answer})
        return hand

    def _note(self, row: dict[str, Any]) -> None:
        self._journal.append([row])
        self._take(row)

    def _take(self, row: dict[str, Any]) -> None:
        """Take in a row of the journal, or all rows of a hand in one."""
        number = row["hand"]
        if "answer" in row:
            self._open, self._next = (self._service.read(row["answer"]), False), number
        if row.get("sends") is not None and self._open is not None:
            self._open = (self._open[0], True)
        hand = None if self._open is None else self._open[0]
        if "lost" in row:
            self._lost[number] = "" if hand is None else hand.name, row["lost"]
        elif hand is not None and hand.won is not None:
            self._over[number] = hand
        else:
            return
        self._open, self._next = None, number + 1

    def report(self, title: str, values: ValueFunctionFactory) -> MatchResults:
        """Chips that the service says were won, AIVAT where all cards are known, and the service's own estimate."""
        over = list(self._over.values())
        won = [hand.won for hand in over if hand.won is not None]
        scale, adjusted = chip_value(self._game, "mbb"), [hand.adjusted for hand in over if hand.adjusted is not None]
        theirs = estimate(np.array(adjusted) * scale) if adjusted else None
        console, name = Console(stderr=True), self.seat.agent.name
        ended = {hand.name for hand in over}
        lost = [why for hand, why in self._lost.values() if not hand or hand not in ended]
        settings = {
            "hands": len(won),
            "lost": lost,
            "failures": self._failures,
            "service_estimate": None if theirs is None else theirs.record(),
        }
        results = report_hands(
            self._game,
            (name,),
            [[chips] for chips in won],
            self.seat.failures,
            self._seed,
            self.seat.log,
            title,
            settings,
            console,
            self._aivat(values),
        )
        if theirs is not None:
            console.print(f"by the service's own estimate: {theirs} mbb/hand", highlight=False)
        if lost:
            console.print(f"hands without an end, which do not count: {len(lost)}", highlight=False)
        return results

    def _aivat(self, values: ValueFunctionFactory) -> list[float] | None:
        """Luck-adjusted chips of each hand; None where cards or decisions are not known."""
        notes = self.seat.notes
        if not notes.exists() or not all(all(hand.state.hole_cards) for hand in self._over.values()):
            return None
        logged = list(read_log(self._game, self.seat.log))
        noted = NotedAivat(self._game, [str(notes)], logged, values)
        found = {hand.number: noted.estimate(hand)[self._over[hand.number].player] for hand in logged}
        return None if noted.unknown.keys() - {"opponent#1"} or len(found) < self.ended else list(found.values())


def serve(*, game: Rules, agents: Sequence[AgentSpec], host: str, port: int, seed: int, out: str) -> None:
    """Serve the protocols of both services at `host` and `port` until interrupted; clients play the agent."""
    if len(agents) != 1:
        raise PokernetsError(f"one agent is served, `agents` are {len(agents)}: agents=[NAME]")
    log = Path(out) / game.name / f"served-{agents[0].name}-seed{seed}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    table = ServiceTable(game, agents[0].build(game), seed, log)
    serve_table(table, host, port, partial(print, flush=True))
