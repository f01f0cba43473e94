"""`evaluate=slumbot`: one of our agents against Slumbot's public service, and its result.

A journal has the beginning and the end of every hand, so that the same command continues an interrupted match. A hand
without a usable answer is reported and does not count. No action is sent twice. The agent's policy is recorded at each
decision for AIVAT, which needs all cards to be shown.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poker.evaluation.aivat.value_functions import CheckDownValues, ValueFunctionFactory
from poker.evaluation.matches.acpc import report_hands
from poker.evaluation.matches.match_results import MatchResults
from poker.evaluation.matches.noted import NotedAivat
from poker.evaluation.matches.results import chip_value
from poker.formats.acpc.log import cards_text, read_log
from poker.game.rules import Rules
from poker.play.lineup import AgentSpec
from poker.play.network.client import DealerSeat, warm_up
from poker.play.network.slumbot import URL, Line, LostAnswer, ServiceHand, Slumbot
from poker.report.estimates import estimate
from poker.run.errors import PokernetsError
from poker.run.lock import alone
from poker.run.progress import Console, progress_bars
from poker.store.lines import JsonLines

_TRIES = 10
"""Number of consecutive lost hands after which the match ends."""


def run(
    *,
    game: Rules,
    agents: Sequence[AgentSpec],
    hands: int,
    seed: int,
    url: str | None,
    seconds: float,
    out: str,
    values: Callable[[], ValueFunctionFactory] = CheckDownValues,
) -> MatchResults:
    """Play until enough hands have ended, including hands of earlier runs, and report the agent's result.

    Args:
        agents: specification of one agent.
        seed: seed of the agent's actions.
        url: another server of the same protocol; None for Slumbot's.
        seconds: least time between two requests.
        out: folder of the journal and the report.
        values: value function of AIVAT.

    Raises:
        PokernetsError: there is not exactly one agent, the game is not heads-up no-limit, or too many hands were lost.
    """
    if len(agents) != 1 or hands < 1 or game.num_players != 2 or game.is_limit:
        raise PokernetsError("evaluate=slumbot plays one agent at heads-up no-limit hold'em: agents=[NAME] hands=N")
    [spec] = agents
    line = Line(url or URL, seconds)
    folder = Path(out) / game.name / f"slumbot-{spec.name}-seed{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder, f"another match writes to {folder}"):
        warm_up(game, spec.build(game))
        match = _Match(game, spec, Slumbot(game, line), folder, seed)
        with progress_bars("hands") as bars:
            bar = bars.add_task(f"{spec.name} at {line.url}", total=hands, completed=len(match.over), found="")
            while len(match.over) < hands:
                match.play_hand()
                bars.update(bar, completed=len(match.over))
        return match.report(f"{spec.name} at {line.url}", values())


class _Match:
    """A match in `folder`: the journal's row of each hand that is `over`, and the seat that answers for the agent."""

    def __init__(self, game: Rules, spec: AgentSpec, service: Slumbot, folder: Path, seed: int) -> None:
        self._game, self._service, self._seed = game, service, seed
        self._journal = JsonLines(folder / "journal.jsonl")
        self._journal.cut_unfinished()
        self._begun = 0
        self.over: dict[int, dict[str, Any]] = {}
        for row in self._journal.rows():
            self._take(row)
        self._lost_in_a_row = 0
        self._failures: list[str] = []
        draws = int(np.random.SeedSequence([seed, self._begun]).generate_state(1)[0])
        self._seat = DealerSeat(game, spec.build(game), draws, folder / "hands.log", self._failures.append)
        logged = {hand.number for hand in read_log(game, self._seat.log)} if self._seat.log.exists() else set()
        for number in sorted(self.over.keys() - logged):
            self._seat.answer(self.over[number]["text"])

    def play_hand(self) -> None:
        """Play a hand to its end, unless an answer is lost."""
        number = self._begun
        self._note({"hand": number})
        try:
            hand = self._service.begin()
            while hand.won is None:
                text = _match_state(number, hand)
                answer = self._seat.answer(text)
                if answer is None:
                    raise LostAnswer(f"after `{hand.state.betting.text()}` it is not the agent's turn")
                hand = self._service.act(hand, hand.state.betting.parse_action(answer[len(text) + 1 :]))
            text = _match_state(number, hand)
            end = {"text": text, "player": hand.player, "won": hand.won, "adjusted": hand.adjusted}
            self._note({"hand": number, **end})
            self._seat.answer(text)
            self._lost_in_a_row = 0
        except LostAnswer as error:
            self._failures.append(f"hand {number}: {error}")
            self._lost_in_a_row += 1
            if self._lost_in_a_row == _TRIES:
                raise PokernetsError(f"{_TRIES} hands in a row failed; the last error: {error}") from error

    def _note(self, row: dict[str, Any]) -> None:
        self._journal.append([row])
        self._take(row)

    def _take(self, row: dict[str, Any]) -> None:
        """Process a row: a hand has begun, or is over."""
        self._begun = max(self._begun, row["hand"] + 1)
        if "text" in row:
            self.over[row["hand"]] = row

    def report(self, title: str, values: ValueFunctionFactory) -> MatchResults:
        """Report the chips by the service's count, AIVAT if all cards are known, and the service's own estimate."""
        scale, rows = chip_value(self._game, "mbb"), list(self.over.values())
        adjusted = [row["adjusted"] for row in rows if row["adjusted"] is not None]
        theirs = estimate(np.array(adjusted) * scale) if adjusted else None
        lost = self._begun - len(rows)
        record = None if theirs is None else theirs.record()
        settings = {"lost": lost, "failures": self._failures, "service_estimate": record}
        console, seat = Console(stderr=True), self._seat
        chips, aivat = [[row["won"]] for row in rows], self._aivat(values)
        results = report_hands(
            self._game, (seat.agent.name,), chips, seat.failures, self._seed, seat.log, title, settings, console, aivat
        )
        console.print(f"by the service's own estimate: {theirs} mbb/hand; lost hands: {lost}", highlight=False)
        return results

    def _aivat(self, values: ValueFunctionFactory) -> list[float] | None:
        """Return luck-adjusted chips of each hand; None if cards or decisions are unknown."""
        logged, notes = list(read_log(self._game, self._seat.log)), self._seat.notes
        if not notes.exists() or not all(all(hand.state.hole_cards) for hand in logged):
            return None
        noted = NotedAivat(self._game, [str(notes)], logged, values)
        adjusted = {hand.number: noted.estimate(hand)[self.over[hand.number]["player"]] for hand in logged}
        complete = not noted.unknown.keys() - {"opponent#1"} and adjusted.keys() == self.over.keys()
        return [adjusted[number] for number in self.over] if complete else None


def _match_state(number: int, hand: ServiceHand) -> str:
    """Return the state as an ACPC dealer would write it, with all cards that the service shows."""
    return f"MATCHSTATE:{hand.player}:{number}:{hand.state.betting.text()}:{cards_text(hand.state)}"
