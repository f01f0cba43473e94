"""`evaluate=serve`: an agent that other people's programs play, over the protocols of Slumbot and of GTO Wizard's
benchmark as far as they are known.

`POST /api/new_hand` and `/api/act` are Slumbot's, `POST /hands`, `/hands/ID/act` and `GET /hands/in-progress` those of
GTO Wizard. Seats alternate, all cards are shown once a hand is over. What the services report as luck-adjusted is not
computed: it is what was won.
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
from poker.betting import IllegalAction
from poker.entropy import stored_seed
from poker.errors import PokernetsError
from poker.formats.acpc.log import log_line, read_log
from poker.lines import JsonLines, append_lines
from poker.lock import alone
from poker.machine import give_back_memory
from poker.play.client import warm_up
from poker.play.hand import checked, passive
from poker.play.lineup import AgentSpec
from poker.play.services import GtoWizard, round_start, token_of
from poker.rules import STREET_NAMES, Rules
from poker.search.lru_cache import LRUCache
from poker.state import HandState

_MOST_BYTES = 4096
_MOST_HANDS = 20
"""Hands that one key may have in progress, as at GTO Wizard's."""
_SILENT_SECONDS = 120.0
"""After which a connection is closed."""
_REMEMBERED = 1000
"""Latest sessions, and keys, whose hands go on."""


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
    """A hand that a client plays as `player`; `old` is the betting that the client was told before."""

    number: int
    state: HandState
    player: int
    owner: str
    tokens: str = ""
    old: str = ""


class ServiceTable:
    """Hands of all clients against `agent`, one request at a time; finished ones are logged."""

    def __init__(self, game: Rules, agent: Agent, seed: int, log: Path) -> None:
        self._game, self._agent, self._log, self._seed = game, agent, log, seed
        JsonLines(log).cut_unfinished()
        logged = [hand.number for hand in read_log(game, log)] if log.exists() else []
        self._numbers = count(max(logged, default=-1) + 1)
        self._of_key: LRUCache[str, dict[int, ServedHand]] = LRUCache(_REMEMBERED)
        self._sessions: LRUCache[str, ServedHand] = LRUCache(_REMEMBERED)
        self._last: ServedHand | None = None
        self._lock = threading.Lock()
        agent.reset(int(np.random.SeedSequence([_AGENT, seed]).generate_state(1, np.uint64)[0]))

    def answer(self, method: str, path: str, body: dict[str, Any], key: str) -> Any:
        """The JSON that answers a request; a RequestError refuses it."""
        with self._lock:
            match method, *path.strip("/").split("/"):
                case "POST", "api", "new_hand":
                    return self._slumbot_begins(str(body.get("token") or ""))
                case "POST", "api", "act":
                    return self._slumbot_acts(str(body.get("token")), str(body.get("incr")))
                case "POST", "hands":
                    return self._hands_begin(str(body.get("game_name")), key)
                case "POST", "hands", number, "act":
                    return self._hands_act(number, body, key)
                case "GET", "hands", "in-progress":
                    return [self._game_service(hand) for hand in self._in_progress(key).values()]
        raise RequestError(HTTPStatus.NOT_FOUND, f"there is no {method} {path}")

    def _begin(self, owner: str) -> ServedHand:
        number = next(self._numbers)
        dealt = HandState.deal(self._game, np.random.default_rng([_CARDS, self._seed, number]))
        hand = ServedHand(number, dealt, number % 2, owner)
        self._go_on(hand)
        return hand

    def _act(self, hand: ServedHand, token: str) -> None:
        """Take the client's action, then the agent's until it is the client's turn again."""
        betting = hand.state.betting
        try:
            if token[:1] not in ("f", "b", "c" if betting.to_call else "k"):
                raise IllegalAction(f"illegal action {token[:100]}")
            action = betting.parse_action(token, round_start(betting))
            betting.apply(action)
        except IllegalAction as error:
            raise RequestError(HTTPStatus.BAD_REQUEST, str(error)) from error
        hand.old = hand.tokens
        self._apply(hand, action)
        self._go_on(hand)

    def _go_on(self, hand: ServedHand) -> None:
        seat = 1 - hand.player
        while not hand.state.is_over and hand.state.to_act == seat:
            self._apply(hand, self._asked(hand, seat))
        if hand.state.is_over:
            names = ["client", "client"]
            names[seat] = self._agent.name
            append_lines(self._log, [log_line(hand.state, hand.number, names)])
            give_back_memory()

    def _asked(self, hand: ServedHand, seat: int) -> int:
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
        try:
            self._act(hand, incr)
        except RequestError as error:
            raise RequestError(HTTPStatus.OK, str(error)) from error
        return self._slumbot(hand)

    def _slumbot(self, hand: ServedHand) -> dict[str, Any]:
        cards = [[self._game.cards_text((card,)) for card in held] for held in hand.state.hole_cards]
        told = {
            "token": hand.owner,
            "client_pos": hand.player,
            "hole_cards": cards[hand.player],
            "board": [self._game.cards_text((card,)) for card in hand.state.board],
            "old_action": hand.old,
            "action": hand.tokens,
        }
        if hand.state.is_over:
            won = hand.state.payoffs()[hand.player]
            told |= {"winnings": won, "baseline_winnings": 0, "bot_hole_cards": cards[1 - hand.player]}
        return told

    def _in_progress(self, key: str) -> dict[int, ServedHand]:
        hands = self._of_key.get(key) or {}
        return {number: hand for number, hand in hands.items() if not hand.state.is_over}

    def _hands_begin(self, game: str, key: str) -> dict[str, Any]:
        if not key:
            raise RequestError(HTTPStatus.UNAUTHORIZED, "give a key as X-API-Key")
        if game != GtoWizard.GAME:
            raise RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, f"there is no game {game}")
        hands = self._in_progress(key)
        if len(hands) >= _MOST_HANDS:
            raise RequestError(HTTPStatus.CONFLICT, f"the maximum of {_MOST_HANDS} hands is in progress")
        hand = self._begin(key)
        self._of_key.put(key, {**hands, hand.number: hand})
        return self._game_service(hand)

    def _hands_act(self, number: str, body: dict[str, Any], key: str) -> dict[str, Any]:
        hand = next((hand for known, hand in (self._of_key.get(key) or {}).items() if str(known) == number), None)
        if hand is None:
            raise RequestError(HTTPStatus.NOT_FOUND, f"there is no hand {number}")
        if hand.state.is_over:
            raise RequestError(HTTPStatus.CONFLICT, f"hand {number} is over")
        action, total = body.get("action"), body.get("amount")
        self._act(hand, f"b{total}" if action == "b" and type(total) is int else str(action))
        return self._game_service(hand)

    def _game_service(self, hand: ServedHand) -> dict[str, Any]:
        state, rules, over = hand.state, self._game, hand.state.is_over
        names, places = ("GTO Wizard", "client"), ("BB", "SB")
        seats = [
            {
                "name": names[seat == hand.player],
                "stack": rules.stacks[seat] - state.betting.committed[seat],
                "position": places[seat],
                "hole_cards": rules.cards_text(state.hole_cards[seat]) if over or seat == hand.player else None,
            }
            for seat in range(2)
        ]
        legal, start, won = state.legal(), round_start(state.betting), None
        if over:
            won = float(state.payoffs()[hand.player])
        passive = "c" if state.betting.to_call else "k"
        spread = {"min": legal.min_raise - start, "max": legal.max_raise - start} if legal.max_raise else None
        told = {
            "street": STREET_NAMES[state.street],
            "common_pot": 2 * start,
            "total_pot": sum(state.betting.committed),
            "board_cards": rules.cards_text(state.board),
            "is_hand_over": over,
            "players": seats,
            "legal_actions": [] if over else [*("f" * legal.fold), passive, *("b" * bool(legal.max_raise))],
            "raise_range": spread,
            "action_history": _history(hand.tokens),
            "has_gto_wizard_folded": state.betting.folded[1 - hand.player],
            "winnings": won,
            "aivat_score": won,
        }
        game = {
            "game_id": 1,
            "game_name": GtoWizard.GAME,
            "game_format": "cash",
            "starting_stack": rules.stacks[0],
            "blinds": list(rules.blinds),
            "stack_reset_per_hand": True,
        }
        return {"hand_id": hand.number, "game": game, "game_state": told}


def _history(tokens: str) -> list[str]:
    """GTO Wizard's list for Slumbot's text: `_` ends a round."""
    spaced = tokens.replace("/", " _")
    for letter in "fkcb":
        spaced = spaced.replace(letter, f" {letter}")
    return spaced.split()


def serve_table(table: ServiceTable, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Answer requests until interrupted."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = _SILENT_SECONDS

        def do_POST(self) -> None:
            self._reply("POST")

        def do_GET(self) -> None:
            self._reply("GET")

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

        def _reply(self, method: str) -> None:
            status: int = HTTPStatus.OK
            try:
                answer = table.answer(method, self.path, self._body(), self.headers.get("X-API-Key", ""))
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
