"""A fake of Slumbot's service, as far as our client reads its answers."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

import numpy as np

from poker.formats.acpc.log import log_line
from poker.game.rules import Rules
from poker.game.state import HandState
from poker.play.network.slumbot import token_of
from tests.random_play import random_action


class RequestError(Exception):
    """A request that is answered with another status than 200."""

    def __init__(self, status: int) -> None:
        super().__init__("a fault")
        self.status = status


@dataclass
class ServedHand:
    """A hand that the client plays as `player`, with its betting in the service's letters."""

    state: HandState
    player: int
    tokens: str = ""

    def apply(self, action: int) -> None:
        street = self.state.street
        self.tokens += token_of(self.state.betting, action)
        self.state = self.state.apply(action)
        self.tokens += "/" * (self.state.street - street)


class FakeSlumbot:
    """A random player's hands with every client, and the log `lines` of those that are over.

    `faults` are taken one by one: end of the path, whether the request is carried out, the status of the answer.
    """

    def __init__(self, game: Rules) -> None:
        self._game, self._rng, self._cards = game, Random(5), np.random.default_rng(5)
        self.sessions: dict[str, ServedHand] = {}
        self.lines: list[str] = []
        self.faults: list[tuple[str, bool, int]] = []
        self._number = 0

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        if self.faults and path.endswith(self.faults[0][0]):
            _, done, status = self.faults.pop(0)
            if done:
                self._answer(path, body)
            raise RequestError(status)
        return self._answer(path, body)

    def _answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        token = body.get("token", f"session-{self._number}")
        if path == "/api/new_hand":
            if "token" in body and token not in self.sessions:
                return {"error_msg": "Could not find session"}
            self.sessions[token] = ServedHand(HandState.deal(self._game, self._cards), self._number % 2)
            self._number += 1
        hand = self.sessions.get(token)
        if hand is None or hand.state.is_over:
            return {"error_msg": "Could not find a hand in progress"}
        if path == "/api/act":
            hand.apply(hand.state.betting.parse_action(body["incr"], max(hand.state.betting.round_start())))
        while not hand.state.is_over and hand.state.to_act != hand.player:
            hand.apply(random_action(hand.state.legal(), self._rng))
        cards = [[self._game.cards_text((card,)) for card in hole] for hole in hand.state.hole_cards]
        answer = {
            "token": token,
            "client_pos": hand.player,
            "hole_cards": cards[hand.player],
            "board": [self._game.cards_text((card,)) for card in hand.state.board],
            "action": hand.tokens,
        }
        if hand.state.betting.is_over:
            self.lines.append(log_line(hand.state, self._number, ["one", "other"]))
            won = hand.state.payoffs()[hand.player]
            answer |= {"winnings": won, "baseline_winnings": 0, "bot_hole_cards": cards[1 - hand.player]}
        return answer


@contextmanager
def answering(reply: Callable[[str, Any], object]) -> Iterator[str]:
    """The URL of a server inside the block; `reply(path, body)` is the answer, as JSON unless it is bytes."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

        def do_POST(self) -> None:
            status, body = 200, json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                answer = reply(self.path, body)
            except RequestError as error:
                status, answer = error.status, {"detail": str(error)}
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.end_headers()
            self.wfile.write(data)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()  # the default ends after 0.5 s
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
