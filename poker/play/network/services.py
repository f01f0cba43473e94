"""Clients of public services that play heads-up no-limit hold'em over HTTP, hand by hand: Slumbot's and GTO Wizard's.

Both tell the whole betting with every answer, in letters of their own: `k` checks, `c` calls, `f` folds and `b300` bets
or raises to 300 of the round. Hands are not repeated: a request that may have been carried out is never sent again,
and a hand whose answer was lost is looked up where the service can (`found`).
"""

import json
import random
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from typing import Any

from poker.game.betting import Betting, IllegalAction
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState
from poker.run.errors import PokernetsError

_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""Nothing was done."""
_NO_HAND = (*_BUSY, HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT, HTTPStatus.CONFLICT)
"""No hand was dealt, or one that nobody plays; a conflict says that as many are in progress as may be."""
_REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_ATTEMPTS = 20
_LONGEST_PAUSE = 15.0
_SECONDS = 180.0
"""For an answer; engines think."""
_TOTAL = re.compile(r"b((?:0(?=\.)|[1-9][0-9]{0,9})(?:\.[0-9]{1,6})?)")


class LostAnswer(Exception):  # noqa: N818 (what happened, not an error of this program)
    """A request that may have been carried out was not answered as it should be; says why."""


class Refusal(LostAnswer):
    """An answer of the service that refuses a request; `status` is that of HTTP."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(f"{status}: {why}")
        self.status = status


@dataclass(frozen=True)
class ServiceHand:
    """A hand as the service tells it to `player`, in its `answer`: `won` chips and, where the service has them, chips
    less luck once it is over. `name` is the service's, empty if it has none."""

    name: str
    player: int
    state: HandState
    won: float | None
    adjusted: float | None
    answer: Mapping[str, Any]


class Line:
    """Requests to the service at `url`, at least `seconds` apart, and again while it is busy or out of reach."""

    def __init__(self, url: str, headers: Mapping[str, str], seconds: float) -> None:
        self.url = url.rstrip("/")
        self._headers = {"Content-Type": "application/json", "User-Agent": "pokernets", **headers}
        self._seconds, self._last = seconds, 0.0

    def ask(self, path: str, body: Mapping[str, Any] | None = None, busy: Sequence[int] = _BUSY) -> Any:
        """The JSON that the service answers to a POST of `body`, or a GET. Statuses of `busy` are tried again."""
        why: Exception | None = None
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(random.uniform(0.5, 1.0) * min(2.0 * 2**attempt, _LONGEST_PAUSE))
            time.sleep(max(0.0, self._last + self._seconds - time.monotonic()))
            self._last = time.monotonic()
            try:
                return self._once(path, body)
            except Refusal as error:
                if error.status in _REFUSED:
                    raise PokernetsError(
                        f"{self.url} refuses the key ({error}): set the variable that `key` names"
                    ) from error
                if error.status not in busy:
                    raise
                why = error
        raise PokernetsError(f"{self.url} is busy or out of reach ({why}): the same command goes on later")

    def _once(self, path: str, body: Mapping[str, Any] | None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, self._headers)
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise Refusal(error.code, " ".join(error.read(400).decode(errors="replace").split())) from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, ConnectionRefusedError):  # nothing was sent
                raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, str(error.reason)) from error
            raise LostAnswer(str(error.reason)) from error
        except (HTTPException, OSError, ValueError) as error:
            raise LostAnswer(repr(error)) from error


def betting_of(rules: Rules, tokens: Sequence[str], unit: float = 1.0) -> Betting:
    """The betting of a service's tokens, whose totals are of the round and `unit` of ours each."""
    betting = Betting.start(rules)
    for token in tokens:
        total = _TOTAL.fullmatch(token)
        try:
            chips = f"b{round(float(total[1]) * unit)}" if total else token
            betting = betting.apply(betting.parse_action(chips, max(betting.round_start())))
        except IllegalAction as error:
            raise PokernetsError(
                f"the service tells an action `{token[:100]}` that is not possible: {error}"
            ) from error
    return betting


def token_of(betting: Betting, action: int) -> str:
    """The service's token of an action, a total of the round."""
    if action in (FOLD, CALL):
        return "f" if action == FOLD else "c" if betting.to_call else "k"
    return f"b{action - max(betting.round_start())}"


def _state(rules: Rules, tokens: Sequence[str], cards: Mapping[int, str], board: str, unit: float = 1.0) -> HandState:
    """The hand with the hole `cards` of the players that are shown, and the board."""
    hands = [rules.parse_cards(cards.get(player, "")) for player in range(rules.num_players)]
    return HandState.at(betting_of(rules, tokens, unit), hands, rules.parse_cards(board))


class Slumbot:
    """Slumbot's API: a session goes by a token. A hand whose answer was lost cannot be looked up."""

    URL = "https://slumbot.com"

    def __init__(self, rules: Rules, line: Line) -> None:
        self._rules, self._line = rules, line
        self._token: str | None = None

    def begin(self) -> ServiceHand:
        """A new hand."""
        try:
            return self._read(self._requested("/api/new_hand", {} if self._token is None else {"token": self._token}))
        except LostAnswer:
            if self._token is None:
                raise
            self._token = None  # the session may have expired: begin another
            return self.begin()

    def act(self, hand: ServiceHand, action: int) -> ServiceHand:
        """The hand after our action, when it is our turn again or over; LostAnswer if that is not known."""
        incr = token_of(hand.state.betting, action)
        answer = self._requested("/api/act", {"token": hand.answer["token"], "incr": incr})
        return self._read({**hand.answer, **answer})

    def _read(self, answer: Mapping[str, Any]) -> ServiceHand:
        self._token, player = str(answer["token"]), int(answer["client_pos"])
        cards = {player: "".join(answer["hole_cards"]), 1 - player: "".join(answer.get("bot_hole_cards") or ())}
        tokens = re.findall(r"[a-z][0-9]*", answer["action"])
        won, baseline = answer.get("winnings"), answer.get("baseline_winnings")
        adjusted = None if won is None or baseline is None else won - baseline
        state = _state(self._rules, tokens, cards, "".join(answer["board"]))
        return ServiceHand("", player, state, won, adjusted, answer)

    def found(self, hand: ServiceHand) -> None:
        """The hand as it stands now, after a lost answer; None where the service does not tell."""
        return None

    def _requested(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        answer = self._line.ask(path, body, _NO_HAND if path == "/api/new_hand" else _BUSY)
        if "error_msg" in answer:
            raise LostAnswer(str(answer["error_msg"]))
        return dict(answer)


class GtoWizard:
    """The API of GTO Wizard's benchmark. A hand in progress can be looked up, one that is over cannot.

    Hands in progress that an earlier process left are played before others: one client plays for a key at a time.
    """

    URL = "https://researcher.gtowizard.com"
    GAME = "HUNL 200BB"
    _LEFT = "/hands/in-progress"
    _OPPONENT = "GTO Wizard"

    def __init__(self, rules: Rules, line: Line) -> None:
        self._rules, self._line = rules, line
        self._may_be_left = True

    def begin(self) -> ServiceHand:
        if self._may_be_left:
            for left in self._line.ask(self._LEFT):
                return self._read(left)
            self._may_be_left = False
        return self._read(self._line.ask("/hands", {"game_name": self.GAME}, _NO_HAND))

    def act(self, hand: ServiceHand, action: int) -> ServiceHand:
        token = token_of(hand.state.betting, action)
        unit = self._unit(hand.answer)
        amount = {"amount": round(int(token[1:]) / unit)} if token[0] == "b" else {}
        answer = self._line.ask(f"/hands/{hand.answer['hand_id']}/act", {"action": token[0], **amount})
        return self._read({**answer, "hero": hand.answer["hero"]})

    def _read(self, answer: Mapping[str, Any]) -> ServiceHand:
        game = answer["game_state"]
        seats = {seat["name"]: seat for seat in game["players"]}
        others = [name for name, seat in seats.items() if seat["hole_cards"] and not name.startswith(self._OPPONENT)]
        hero = answer.get("hero") or others[0]  # at the end both hands may be shown
        player = 0 if seats[hero]["position"] == "BB" else 1
        cards = {player if name == hero else 1 - player: seat["hole_cards"] or "" for name, seat in seats.items()}
        tokens, unit = [token for token in game["action_history"] if token != "_"], self._unit(answer)
        state = _state(self._rules, tokens, cards, game["board_cards"] or "", unit)
        won, adjusted = (
            None if game[key] is None or not game["is_hand_over"] else game[key] * unit
            for key in ("winnings", "aivat_score")
        )
        return ServiceHand(str(answer["hand_id"]), player, state, won, adjusted, {**answer, "hero": hero})

    def found(self, hand: ServiceHand) -> ServiceHand | None:
        self._may_be_left = True
        for answer in self._line.ask(self._LEFT):
            if answer["hand_id"] == hand.answer["hand_id"]:
                return self._read({**answer, "hero": hand.answer["hero"]})
        return None

    def _unit(self, answer: Mapping[str, Any]) -> float:
        """Chips of ours that one of theirs is; PokernetsError for stacks that are not those of our game."""
        game = answer["game"]
        unit = self._rules.big_blind / max(game["blinds"])
        if game["starting_stack"] * unit != self._rules.stacks[0]:
            raise PokernetsError(
                f"{self.URL} deals stacks of {game['starting_stack']}: not those of `{self._rules.name}`"
            )
        return float(unit)


Service = Slumbot | GtoWizard
SERVICES: dict[str, type[Service]] = {"slumbot": Slumbot, "gtowizard": GtoWizard}
