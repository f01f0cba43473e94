"""Client of Slumbot's public API, which plays heads-up no-limit hold'em hand by hand over HTTP.

Every answer has the whole betting in the service's own letters: `k` checks, `c` calls, `f` folds, and `b300` bets or
raises to 300 in the round. A request that may have been carried out is never sent again. The service is not trusted.
Answers have a maximum size, and one function checks their types and ranges (`_checked`). Each answer must continue the
hand by the action that was sent, so that a hand ends after finitely many requests. Any other answer is a `LostAnswer`.
"""

import json
import random
import re
import reprlib
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from typing import Any

from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState
from poker.run.errors import PokernetsError

URL = "https://slumbot.com"
_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""Statuses after which nothing was carried out."""
_NO_HAND = (*_BUSY, HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT, HTTPStatus.CONFLICT)
"""Statuses after which no hand was dealt, or the hand is abandoned."""
_ATTEMPTS = 20
_LONGEST_PAUSE = 15.0
_SECONDS = 180.0
"""Longest time in seconds before an answer; the service may be solving."""
_MAX_BYTES = 1 << 16
"""Largest size of an answer; Slumbot's have a few hundred bytes."""
_MAX_TEXT = 2000
"""Most characters in a token or in the betting."""


class LostAnswer(Exception):  # noqa: N818 (what happened, not an error of this program)
    """A request that may have been carried out has no usable answer; the message gives the reason."""


class Refusal(LostAnswer):
    """The service refused a request.

    Args:
        status: HTTP status.
        why: the reason that the service gives.
    """

    def __init__(self, status: int, why: str) -> None:
        """Join the status and the reason to the message."""
        super().__init__(f"{status}: {why}")
        self.status = status


@dataclass(frozen=True)
class ServiceHand:
    """A hand as the service shows it to a player.

    Attributes:
        player: our player.
        won: chips won; None until the hand is over.
        adjusted: chips won minus the service's baseline; None if unknown.
        answer: the checked fields of the answer.
    """

    player: int
    state: HandState
    won: float | None
    adjusted: float | None
    answer: dict[str, Any]


class Line:
    """A connection to the service, which repeats requests while the service is busy or cannot be reached.

    Args:
        url: address of the service.
        seconds: least time between two requests.
    """

    def __init__(self, url: str, seconds: float) -> None:
        """Store the address."""
        self.url = url.rstrip("/")
        self._seconds, self._last = seconds, 0.0

    def ask(self, path: str, body: Mapping[str, Any], busy: Sequence[int] = _BUSY) -> Any:
        """Send a POST request and return the JSON of the answer.

        Args:
            path: path of the request.
            body: its JSON.
            busy: HTTP statuses after which the request is repeated.

        Raises:
            Refusal: the service refuses the request with another status.
            LostAnswer: the request may have been carried out, but has no usable answer.
            PokernetsError: the service stays busy or cannot be reached.
        """
        why: Exception | None = None
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(random.uniform(0.5, 1.0) * min(2.0 * 2**attempt, _LONGEST_PAUSE))
            time.sleep(max(0.0, self._last + self._seconds - time.monotonic()))
            self._last = time.monotonic()
            try:
                return self._once(path, body)
            except Refusal as error:
                if error.status not in busy:
                    raise
                why = error
        raise PokernetsError(f"{self.url} is busy or unreachable ({why}): run the same command again later")

    def _once(self, path: str, body: Mapping[str, Any]) -> Any:
        headers = {"Content-Type": "application/json", "User-Agent": "pokernets"}
        try:
            request = urllib.request.Request(f"{self.url}{path}", json.dumps(body).encode(), headers)
            try:
                with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                    text = answer.read(_MAX_BYTES + 1)
            except urllib.error.HTTPError as error:
                why = " ".join(error.read(400).decode(errors="replace").split())
                raise Refusal(error.code, why) from error
            if len(text) > _MAX_BYTES:
                raise LostAnswer(f"the answer has more than {_MAX_BYTES} bytes")
            return json.loads(text)
        except urllib.error.URLError as error:
            if isinstance(error.reason, ConnectionRefusedError):  # nothing was sent
                raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, str(error.reason)) from error
            raise LostAnswer(str(error.reason)) from error
        except (HTTPException, OSError, ValueError, RecursionError) as error:
            raise LostAnswer(repr(error)[:400]) from error


def betting_of(rules: Rules, tokens: Sequence[str]) -> Betting:
    """Return the betting after the service's tokens, whose numbers are totals of the round.

    Raises:
        PokernetsError: a token is invalid or illegal.
    """
    betting = Betting.start(rules)
    for token in tokens:
        betting = betting.apply(betting.parse_action(token, max(betting.round_start())))
    return betting


def token_of(betting: Betting, action: int) -> str:
    """Return the service's token for an action; its number is a total of the round."""
    if action in (FOLD, CALL):
        return "f" if action == FOLD else "c" if betting.to_call else "k"
    return f"b{action - max(betting.round_start())}"


def _checked(answer: object, stack: int) -> dict[str, Any]:
    """Return the fields of an answer that the client uses, after checking their types and ranges."""
    if not isinstance(answer, dict):
        raise LostAnswer("the answer is not a JSON object")
    fields = {name: value for name, value in answer.items() if value is not None}
    if "error_msg" in fields:
        raise LostAnswer(fields["error_msg"][:400] if isinstance(fields["error_msg"], str) else "an error")

    def cards(value: object, counts: Sequence[int]) -> bool:
        is_list = isinstance(value, list) and len(value) in counts
        return is_list and all(isinstance(card, str) and len(card) == 2 for card in value)  # type: ignore[attr-defined]

    def text(value: object) -> bool:
        return isinstance(value, str) and len(value) <= _MAX_TEXT

    def chips(value: object) -> bool:
        return type(value) in (int, float) and -stack <= value <= stack  # type: ignore[operator]

    checks = {
        "token": text(fields.get("token")),
        "client_pos": type(fields.get("client_pos")) is int and fields["client_pos"] in (0, 1),
        "action": text(fields.get("action")) and bool(re.fullmatch("([fkc/]|b[0-9]{1,9})*", fields["action"])),
        "hole_cards": cards(fields.get("hole_cards"), (2,)),
        "board": cards(fields.get("board"), (0, 3, 4, 5)),
        "bot_hole_cards": cards(fields.get("bot_hole_cards", []), (0, 2)),
        "winnings": chips(fields.get("winnings", 0)),
        "baseline_winnings": chips(fields.get("baseline_winnings", 0)),
    }
    wrong = [f"`{name}` is {reprlib.repr(fields.get(name))}" for name, is_right in checks.items() if not is_right]
    if wrong:
        raise LostAnswer(f"the answer does not follow the protocol: {', '.join(wrong)}")
    return {name: fields[name] for name in checks if name in fields}


class Slumbot:
    """A session of Slumbot's API, identified by a token. A hand whose answer was lost cannot be queried again.

    Args:
        line: the connection.
    """

    def __init__(self, rules: Rules, line: Line) -> None:
        """Start without a token."""
        self._rules, self._line = rules, line
        self._token: str | None = None

    def begin(self) -> ServiceHand:
        """Begin a new hand, in a new session if the old one has expired.

        Raises:
            LostAnswer: the service gives no usable answer.
        """
        token, self._token = self._token, None
        try:
            session = {} if token is None else {"token": token}
            answer = self._line.ask("/api/new_hand", session, _NO_HAND)
            hand = self._read(session | answer if isinstance(answer, dict) else answer)
        except LostAnswer:
            if token is None:
                raise
            return self.begin()  # the session may have expired: begin another
        self._token = hand.answer["token"]
        return hand

    def act(self, hand: ServiceHand, action: int) -> ServiceHand:
        """Send our action and return the hand when it is our turn again or the hand is over.

        Raises:
            LostAnswer: the service gives no usable answer.
        """
        incr = token_of(hand.state.betting, action)
        answer = self._line.ask("/api/act", {"token": hand.answer["token"], "incr": incr})
        after = self._read(hand.answer | answer if isinstance(answer, dict) else answer)
        expected = hand.state.apply(action).betting.line
        if after.state.betting.line[: len(expected)] != expected:
            raise LostAnswer(f"after `{incr}` the betting is `{after.answer['action']}`")
        if after.player != hand.player or after.answer["hole_cards"] != hand.answer["hole_cards"]:
            raise LostAnswer("the answer belongs to another hand")
        self._token = after.answer["token"]
        return after

    def _read(self, answer: object) -> ServiceHand:
        fields = _checked(answer, max(self._rules.stacks))
        player, tokens = fields["client_pos"], re.findall("[a-z][0-9]*", fields["action"])
        cards = {player: "".join(fields["hole_cards"]), 1 - player: "".join(fields.get("bot_hole_cards", ()))}
        try:
            hands = [self._rules.parse_cards(cards[seat]) for seat in range(2)]
            board = self._rules.parse_cards("".join(fields["board"]))
            state = HandState.at(betting_of(self._rules, tokens), hands, board)
        except PokernetsError as error:
            raise LostAnswer(f"the answer contains an impossible hand: {error}") from error
        won, baseline = fields.get("winnings"), fields.get("baseline_winnings")
        if (won is not None) != state.is_over or not (state.is_over or state.to_act == player):
            raise LostAnswer(f"after `{fields['action']}` the hand goes on, but not at the agent's turn")
        if len(board) < self._rules.board_sizes[state.street] and not any(state.betting.folded):
            raise LostAnswer(f"after `{fields['action']}` the board has {len(board)} cards")
        adjusted = None if won is None or baseline is None else won - baseline
        return ServiceHand(player, state, won, adjusted, fields)
