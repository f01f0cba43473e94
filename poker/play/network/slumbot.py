"""Client of Slumbot's public API, which plays heads-up no-limit hold'em hand by hand over HTTP.

Every answer has the whole betting, in letters of its own: `k` checks, `c` calls, `f` folds and `b300` bets or raises to
300 of the round. A request that may have been carried out is never sent again. The service is not trusted: answers have
a maximum size, one function checks their types and ranges (`_checked`), and each must continue the hand by the action
that was sent, so that a hand ends after finitely many requests. Any other answer is a `LostAnswer`.
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
"""Nothing was done."""
_NO_HAND = (*_BUSY, HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT, HTTPStatus.CONFLICT)
"""No hand was dealt, or the hand is abandoned."""
_ATTEMPTS = 20
_LONGEST_PAUSE = 15.0
_SECONDS = 180.0
"""Longest silence before an answer, in which the service may solve."""
_MAX_BYTES = 1 << 16
"""Largest size of an answer; Slumbot sends a few hundred bytes."""
_MAX_TEXT = 2000
"""Characters of a token or of the betting."""


class LostAnswer(Exception):  # noqa: N818 (what happened, not an error of this program)
    """A request that may have been carried out has no usable answer; says why."""


class Refusal(LostAnswer):
    """An answer of the service that refuses a request; `status` is that of HTTP."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(f"{status}: {why}")
        self.status = status


@dataclass(frozen=True)
class ServiceHand:
    """A hand as the service shows it to `player`: `won` chips and chips minus a baseline (`adjusted`) once it is over.

    `answer` has the checked fields of the answer.
    """

    player: int
    state: HandState
    won: float | None
    adjusted: float | None
    answer: dict[str, Any]


class Line:
    """Requests to the service at `url`, at least `seconds` apart, and again while it is busy or out of reach."""

    def __init__(self, url: str, seconds: float) -> None:
        self.url = url.rstrip("/")
        self._seconds, self._last = seconds, 0.0

    def ask(self, path: str, body: Mapping[str, Any], busy: Sequence[int] = _BUSY) -> Any:
        """The JSON that the service answers to a POST of `body`. Statuses of `busy` are tried again."""
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
        raise PokernetsError(f"{self.url} is busy or out of reach ({why}): the same command goes on later")

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
    """The betting of a service's tokens, whose totals are of the round."""
    betting = Betting.start(rules)
    for token in tokens:
        betting = betting.apply(betting.parse_action(token, max(betting.round_start())))
    return betting


def token_of(betting: Betting, action: int) -> str:
    """The service's token of an action, a total of the round."""
    if action in (FOLD, CALL):
        return "f" if action == FOLD else "c" if betting.to_call else "k"
    return f"b{action - max(betting.round_start())}"


def _checked(answer: object, stack: int) -> dict[str, Any]:
    """The fields of an answer that the client uses, with their types and ranges; LostAnswer for any other."""
    if not isinstance(answer, dict):
        raise LostAnswer("the answer is no JSON object")
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
        raise LostAnswer(f"the answer is not of the protocol: {', '.join(wrong)}")
    return {name: fields[name] for name in checks if name in fields}


class Slumbot:
    """Slumbot's API: a session goes by a token. A hand whose answer was lost cannot be looked up."""

    def __init__(self, rules: Rules, line: Line) -> None:
        self._rules, self._line = rules, line
        self._token: str | None = None

    def begin(self) -> ServiceHand:
        """A new hand."""
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
        """The hand after our action, when it is our turn again or over; LostAnswer if that is not known."""
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
            raise LostAnswer(f"the answer has a hand that is not possible: {error}") from error
        won, baseline = fields.get("winnings"), fields.get("baseline_winnings")
        if (won is not None) != state.is_over or not (state.is_over or state.to_act == player):
            raise LostAnswer(f"after `{fields['action']}` the hand is neither over with winnings nor at our turn")
        if len(board) < self._rules.board_sizes[state.street] and not any(state.betting.folded):
            raise LostAnswer(f"after `{fields['action']}` the board has {len(board)} cards")
        adjusted = None if won is None or baseline is None else won - baseline
        return ServiceHand(player, state, won, adjusted, fields)
