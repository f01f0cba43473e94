"""A fake of GTO Wizard's benchmark, as far as our client reads its answers."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from poker.agents.base import Agent
from poker.game.rules import Rules
from poker.play.network.service_table import RequestError, ServedHand, ServiceTable
from poker.play.network.services import GtoWizard


class GtoWizardTable(ServiceTable):
    """The hands of one key against `agent`, dealt and logged as those of a `ServiceTable`."""

    def __init__(self, game: Rules, agent: Agent, seed: int, log: Path) -> None:
        super().__init__(game, agent, seed, log)
        self._hands: list[ServedHand] = []

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        with self._lock:
            match path.strip("/").split("/"):
                case "hands", "in-progress":
                    return [self._game_service(hand) for hand in self._hands if not hand.state.is_over]
                case ["hands"] if body == {"game_name": GtoWizard.GAME}:
                    self._hands.append(self._begin(""))
                    return self._game_service(self._hands[-1])
                case "hands", number, "act":
                    [hand] = [hand for hand in self._hands if str(hand.number) == number]
                    self._act(hand, f"{body['action']}{body.get('amount', '')}")
                    return self._game_service(hand)
        raise RequestError(404, f"there is no {path}")

    def _game_service(self, hand: ServedHand) -> dict[str, Any]:
        state, rules, over = hand.state, self._game, hand.state.is_over
        seats = [
            {
                "name": "client" if seat == hand.player else "GTO Wizard",
                "position": ("BB", "SB")[seat],
                "hole_cards": rules.cards_text(state.hole_cards[seat]) if over or seat == hand.player else None,
            }
            for seat in range(2)
        ]
        history = hand.tokens.replace("/", " _")
        for letter in "fkcb":
            history = history.replace(letter, f" {letter}")
        won = float(state.payoffs()[hand.player]) if over else None
        fields = {
            "board_cards": rules.cards_text(state.board),
            "is_hand_over": over,
            "players": seats,
            "action_history": history.split(),
            "winnings": won,
            "aivat_score": won,
        }
        game = {"starting_stack": rules.stacks[0], "blinds": list(rules.blinds)}
        return {"hand_id": hand.number, "game": game, "game_state": fields}


def serve_gto_wizard(table: ServiceTable, tell: Callable[[str], None]) -> None:
    """Answer requests of `table` until interrupted; `tell` hears the URL."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
            try:
                if self.headers["X-API-Key"] != "secret":
                    raise RequestError(401, "give a key as X-API-Key")
                status, answer = 200, table.answer(self.path, body)
            except RequestError as error:
                status, answer = error.status, {"detail": str(error)}
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        tell(f"http://127.0.0.1:{server.server_address[1]}")
        server.serve_forever()
