"""Our programs at the published C dealer of the competition, and its example player at ours.

`folder` holds what compiling the public source of the competition's server makes: `dealer` and `example_player`.
"""

import json
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from poker.agents.base import Agent
from poker.agents.simple import AlwaysRaise
from poker.formats.acpc.log import chips_text, read_log
from poker.game.rules import FOLD, Rules
from poker.game.state import HandState
from poker.play.network.client import DealerSeat
from poker.run.errors import PokernetsError
from tests.evaluation.matches.acpc.odd_answers import same_answers
from tests.evaluation.matches.acpc.table import EQUITY, RANDOM, sit_down
from tests.games import load_rules
from tests.test_pokerkit import replay_in_pokerkit

EXAMPLE = "example_player"
"""Stands for the competition's example player among players, the others are builders of our agents."""
_Player = Callable[[], Agent] | str


class Smallest(AlwaysRaise):
    """Raises by as little as it may, so that rounds grow as long as the dealer lets them."""

    def __init__(self) -> None:
        super().__init__(name="smallest", raises=[1])

    def act(self, state: HandState) -> int:
        return state.legal().min_raise


class Late(AlwaysRaise):
    """Waits three seconds before each answer from the tenth decision on."""

    def __init__(self) -> None:
        super().__init__(name="late", raises=[1])
        self.asked = 0

    def act(self, state: HandState) -> int:
        self.asked += 1
        if self.asked >= 10:
            threading.Event().wait(3.0)
        return 0


class _Table:
    """Players on their way to a dealer: threads with our clients, processes of the example player."""

    def __init__(self, folder: Path, game: Rules, definition: Path, players: Sequence[_Player], ports: Sequence[int]):
        self.game = game
        self.seats: dict[int, DealerSeat] = {}
        self.errors: list[str] = []
        self.others: list[subprocess.Popen[bytes]] = []
        self.threads: list[threading.Thread] = []
        for number, (player, port) in enumerate(zip(players, ports, strict=True)):
            if isinstance(player, str):
                self.others.append(subprocess.Popen([folder / player, definition, "localhost", str(port)]))
            else:
                self.threads.append(threading.Thread(target=self._sit, args=(number, player, port), daemon=True))
                self.threads[-1].start()

    def _sit(self, number: int, build: Callable[[], Agent], port: int) -> None:
        try:
            self.seats[number] = sit_down(self.game, build, port)
        except (PokernetsError, AssertionError) as error:
            self.errors.append(str(error))

    def leave(self) -> list[str]:
        """Wait until all players have left, and return their errors."""
        for thread in self.threads:
            thread.join(60)
        codes = [other.wait(60) for other in self.others]
        errors = [item.error for seat in self.seats.values() for item in seat.failures]
        return errors + self.errors + [f"{EXAMPLE} left with status {code}" for code in codes if code]


def _names(players: Sequence[_Player]) -> list[str]:
    return [f"p{i}" for i in range(len(players))]


def at_their_dealer(
    folder: Path, name: str, players: Sequence[_Player], hands: int, options: Sequence[str] = ("-q",)
) -> dict[str, Any]:
    """A match at the C dealer: its log played again here and in PokerKit, its score beside what our clients counted."""
    game = load_rules(name)
    with TemporaryDirectory() as work:
        definition, log = Path(work) / "game", Path(work) / "match.log"
        definition.write_text(game.to_acpc())
        command = [
            str(folder / "dealer"),
            str(log.with_suffix("")),
            str(definition),
            str(hands),
            "1",
            *_names(players),
            *options,
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as dealer:
            assert dealer.stdout is not None
            table = _Table(folder, game, definition, players, list(map(int, dealer.stdout.readline().split())))
            out, err = dealer.communicate()
        failures = table.leave()
        played = _replay(game, log)
    score = dict(zip(_names(players), out.strip().split(":")[1].split("|"), strict=True)) if out.strip() else {}
    ours = {f"p{i}": chips_text(sum(seat.chips)) for i, seat in table.seats.items()}
    warnings = [line for line in err.splitlines() if line.startswith(("WARNING", "ERROR"))]
    ok = dealer.returncode == 0 and not failures and played["hands"] == hands and played["score"] == score
    return {
        "c_dealer": f"{name}, {', '.join(map(_label, players))}, options {' '.join(options)}",
        "status": dealer.returncode,
        **played,
        "score": score,
        "counted_by_our_clients": ours,
        "failures": failures,
        "said_by_the_dealer": Counter(warnings),
        "ok": ok and all(score[player] == chips for player, chips in ours.items()),
    }


def at_our_dealer(folder: Path, name: str, players: Sequence[_Player], hands: int) -> dict[str, Any]:
    """A match at our dealer with the example player of the competition."""
    game, names = load_rules(name), ",".join(_names(players))
    with TemporaryDirectory() as work:
        definition = Path(work) / "game"
        definition.write_text(game.to_acpc())
        command = [sys.executable, "evaluate.py", "evaluate=acpc", f"game={name}", f"names=[{names}]", f"runs={work}"]
        command += [f"ports=[{','.join('0' * len(players))}]", f"hands={hands}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as dealer:
            assert dealer.stdout is not None
            table = _Table(folder, game, definition, players, list(map(int, dealer.stdout.readline().split())))
            dealer.communicate()
        failures = table.leave()
        [log] = Path(work).glob("**/acpc-*.log")
        played = _replay(game, log)
        by_player = json.loads(log.with_suffix(".json").read_text())["failures"]
    failures += [text for texts in by_player.values() for text in texts]
    return {
        "our_dealer": f"{name}, {', '.join(map(_label, players))}",
        **played,
        "failures": failures,
        "ok": dealer.returncode == 0 and not failures and played["hands"] == hands,
    }


def _label(player: _Player) -> str:
    return player if isinstance(player, str) else player().name


def _replay(game: Rules, log: Path) -> dict[str, Any]:
    """Plays every hand of a log again here and in PokerKit: how many, the sums of its payoffs, what was done."""
    totals: defaultdict[str, float] = defaultdict(float)
    kinds: Counter[str] = Counter()
    hands = divided = 0
    for hand in read_log(game, log):
        replay_in_pokerkit(hand.state)
        exact = dict(zip(hand.names, map(chips_text, hand.state.divided_payoffs()), strict=True))
        assert exact == dict(zip(hand.names, map(chips_text, hand.payoffs), strict=True)), hand
        hands += 1
        divided += any(chips != int(chips) for chips in hand.payoffs)
        for name, chips in zip(hand.names, hand.payoffs, strict=True):
            totals[name] += chips
        for action in hand.state.betting.line:
            kinds["fold" if action == FOLD else "raise" if action else "check or call"] += 1
    score = {name: chips_text(totals[name]) for name in sorted(totals)}
    return {"hands": hands, "with_divided_chips": divided, "score": score, "actions": kinds}


def late_player(folder: Path, *limit: str) -> dict[str, Any]:
    """The C dealer ends a match whose time limit is passed; both our clients report what they played and say so."""
    row = at_their_dealer(folder, "holdem_nolimit_2p", [Late, RANDOM], 100, ("-q", *limit))
    unfinished = [text for text in row["failures"] if "was not finished: the other side closed the connection" in text]
    return {**row, "ok": row["status"] == 1 and len(unfinished) == len(row["failures"]) == 2}


def their_matches(folder: Path, hands: int) -> list[dict[str, Any]]:
    """Matches at the C dealer: `hands` hands of the long ones, fewer of the others."""
    few = max(2, hands // 10)
    return [
        at_their_dealer(folder, "holdem_nolimit_2p", [EQUITY, RANDOM], hands),
        at_their_dealer(folder, "holdem_limit_3p", [EQUITY, RANDOM, RANDOM], hands),
        at_their_dealer(folder, "holdem_nolimit_2p", [EQUITY, EXAMPLE], hands),
        at_their_dealer(folder, "holdem_limit_3p", [EXAMPLE, RANDOM, EXAMPLE], few),
        at_their_dealer(folder, "holdem_nolimit_6p", [RANDOM, EXAMPLE] * 3, few),
        at_their_dealer(folder, "holdem_nolimit_2p", [RANDOM, EXAMPLE], few, ("-S", "-f")),
        at_their_dealer(folder, "holdem_nolimit_2p", [Smallest, Smallest], max(2, few // 10)),
        late_player(folder, "--t_response", "500"),
        late_player(folder, "--t_hand", "1000"),
        late_player(folder, "--t_per_hand", "15"),
    ]


def our_matches(folder: Path, hands: int) -> list[dict[str, Any]]:
    """The example player at our dealer, and the same odd answers at both dealers."""
    few = max(2, hands // 10)
    return [
        *(same_answers(folder, name, hands // 3, seed=1) for name in ("holdem_nolimit_2p", "holdem_limit_3p")),
        *(same_answers(folder, name, few, seed=2) for name in ("kuhn", "leduc", "holdem_nolimit_6p")),
        at_our_dealer(folder, "holdem_limit_3p", [EXAMPLE, RANDOM, EXAMPLE], few),
        at_our_dealer(folder, "holdem_nolimit_2p", [Smallest, EXAMPLE], few),
        at_our_dealer(folder, "holdem_nolimit_2p", [EQUITY, EXAMPLE], hands),
    ]
