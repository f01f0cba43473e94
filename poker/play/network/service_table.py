"""`evaluate=serve`: an agent that other people's programs play, over Slumbot's protocol as far as it is known.

Requests are `POST /api/new_hand` and `/api/act`. Seats alternate, all cards are shown once a hand is over. The baseline
of what is won, which would take the luck out of it, is always 0.
"""

import json
import logging
import secrets
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from poker.agents.base import Agent
from poker.formats.acpc.log import log_line, read_log
from poker.game.betting import IllegalAction
from poker.game.rules import Rules
from poker.game.state import HandState
from poker.play.hand import checked, passive
from poker.play.lineup import AgentSpec
from poker.play.network.client import warm_up
from poker.play.network.services import token_of
from poker.run.errors import PokernetsError
from poker.run.lock import alone
from poker.run.lru_cache import LRUCache
from poker.run.machine import give_back_memory
from poker.store.entropy import stored_seed
from poker.store.lines import JsonLines, append_lines

_MOST_BYTES = 4096
_SILENT_SECONDS = 120.0
"""After which a connection is closed."""
_REMEMBERED = 1000
"""Latest sessions, whose hands go on."""

_CARDS, _AGENT = range(2)
"""First word of the seed sequences of cards and of the agent."""


def run(*, game: Rules, agents: Sequence[AgentSpec], host: str, port: int, seed: int | None, out: str) -> None:
    """Serve one agent until interrupted; `port` 0 is any free one.

    Hands are logged in a folder of `out`. Cards depend on the number of the hand, which clients hear, and on `seed`;
    without one, on a secret that is drawn with the folder.
    """
    if len(agents) != 1 or game.num_players != 2 or game.is_limit or game.deck_size != 52:
        raise PokernetsError("one agent is served, at heads-up no-limit hold'em: agents=[NAME]")
    [spec] = agents
    folder = Path(out) / game.name / (spec.name if seed is None else f"{spec.name}-seed{seed}")
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder, f"another server plays the hands in {folder}: end it first"):
        warm_up(game, spec.build(game))
        table = ServiceTable(game, spec.build(game), stored_seed(folder / "secret.json", seed), folder / "hands.log")

        def tell(url: str) -> None:
            print(f"{spec.name} serving at {url} (Ctrl+C ends it); hands go to {folder}", file=sys.stderr, flush=True)

        serve_table(table, host, port, tell)


class RequestError(PokernetsError):
    """A request that the protocol does not allow, with its status."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass
class ServedHand:
    """A hand that the client of a `session` plays as `player`; `old` is the betting of the answer before."""

    number: int
    state: HandState
    player: int
    session: str
    tokens: str = ""
    old: str = ""


class ServiceTable:
    """Hands of all clients against `agent`, one request at a time; finished ones are logged."""

    def __init__(self, game: Rules, agent: Agent, seed: int, log: Path) -> None:
        self._game, self._agent, self._log, self._seed = game, agent, log, seed
        JsonLines(log).cut_unfinished()
        logged = [hand.number for hand in read_log(game, log)] if log.exists() else []
        self._numbers = count(max(logged, default=-1) + 1)
        self._sessions: LRUCache[str, ServedHand] = LRUCache(_REMEMBERED)
        self._last: ServedHand | None = None
        self._lock = threading.Lock()
        agent.reset(int(np.random.SeedSequence([_AGENT, seed]).generate_state(1, np.uint64)[0]))

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """The JSON that answers a POST of `body`; a RequestError refuses it."""
        with self._lock:
            match path.strip("/"):
                case "api/new_hand":
                    return self._slumbot_begins(str(body.get("token") or ""))
                case "api/act":
                    return self._slumbot_acts(str(body.get("token")), str(body.get("incr")))
        raise RequestError(HTTPStatus.NOT_FOUND, f"there is no {path}")

    def _begin(self, session: str) -> ServedHand:
        number = next(self._numbers)
        dealt = HandState.deal(self._game, np.random.default_rng([_CARDS, self._seed, number]))
        hand = ServedHand(number, dealt, number % 2, session)
        self._go_on(hand)
        return hand

    def _act(self, hand: ServedHand, token: str) -> None:
        """Take the client's action, then the agent's until it is the client's turn again."""
        betting = hand.state.betting
        try:
            if token[:1] not in ("f", "b", "c" if betting.to_call else "k"):
                raise IllegalAction(f"illegal action {token[:100]}")
            action = betting.parse_action(token, max(betting.round_start()))
            betting.apply(action)
        except IllegalAction as error:
            raise RequestError(HTTPStatus.OK, str(error)) from error
        hand.old = hand.tokens
        self._apply(hand, action)
        self._go_on(hand)

    def _go_on(self, hand: ServedHand) -> None:
        seat = 1 - hand.player
        while not hand.state.is_over and hand.state.to_act == seat:
            self._apply(hand, self._action(hand, seat))
        if hand.state.is_over:
            names = ["client", "client"]
            names[seat] = self._agent.name
            append_lines(self._log, [log_line(hand.state, hand.number, names)])
            give_back_memory()

    def _action(self, hand: ServedHand, seat: int) -> int:
        """The agent's action, a check or fold if it fails; the hands of all clients are one agent's, in turns."""
        view = hand.state.view(seat)
        try:
            if self._last is not hand:
                self._agent.start_hand(seat)
            self._last = hand
            return checked(view, self._agent.act(view))
        except Exception:
            logging.exception("hand %d: the agent failed", hand.number)
            return passive(view)

    def _apply(self, hand: ServedHand, action: int) -> None:
        street = hand.state.street
        hand.tokens += token_of(hand.state.betting, action)
        hand.state = hand.state.apply(action)
        hand.tokens += "/" * (hand.state.street - street)

    def _slumbot_begins(self, token: str) -> dict[str, Any]:
        if token and self._sessions.get(token) is None:
            raise RequestError(HTTPStatus.OK, "Could not find session")
        token = token or secrets.token_hex(16)
        hand = self._begin(token)
        self._sessions.put(token, hand)
        return self._slumbot(hand)

    def _slumbot_acts(self, token: str, incr: str) -> dict[str, Any]:
        hand = self._sessions.get(token)
        if hand is None or hand.state.is_over:
            raise RequestError(HTTPStatus.OK, "Could not find a hand in progress")
        self._act(hand, incr)
        return self._slumbot(hand)

    def _slumbot(self, hand: ServedHand) -> dict[str, Any]:
        cards = [[self._game.cards_text((card,)) for card in hole] for hole in hand.state.hole_cards]
        answer = {
            "token": hand.session,
            "client_pos": hand.player,
            "hole_cards": cards[hand.player],
            "board": [self._game.cards_text((card,)) for card in hand.state.board],
            "old_action": hand.old,
            "action": hand.tokens,
        }
        if hand.state.is_over:
            won = hand.state.payoffs()[hand.player]
            answer |= {"winnings": won, "baseline_winnings": 0, "bot_hole_cards": cards[1 - hand.player]}
        return answer


def serve_table(table: ServiceTable, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Answer requests until interrupted."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = _SILENT_SECONDS

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            status: int = HTTPStatus.OK
            try:
                answer = table.answer(self.path, self._body())
            except RequestError as error:
                status = error.status
                answer = {"error_msg": str(error)} if status == HTTPStatus.OK else {"detail": str(error)}
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _body(self) -> dict[str, Any]:
            length = self.headers.get("Content-Length", "0")
            if not length.isdecimal() or len(length) > 18 or int(length) > _MOST_BYTES:
                self.close_connection = True
                raise RequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request has up to {_MOST_BYTES} bytes")
            try:
                body = json.loads(self.rfile.read(int(length)) or b"{}")
            except (ValueError, RecursionError):
                body = None
            if not isinstance(body, dict):
                raise RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, "the body is no JSON object")
            return body

    try:
        server = ThreadingHTTPServer((host, port), Handler)
    except (OSError, OverflowError) as error:
        raise PokernetsError(f"cannot serve at {host}:{port} ({error}); choose another: port=PORT") from error
    with server:
        tell(f"http://{f'[{host}]' if ':' in host else host}:{server.server_address[1]}")
        server.serve_forever()
