"""Decisions of PokerBench (arXiv 2501.08328) from CSV: spots of six-handed no-limit hold'em with 100 big blinds.

Each decision has a solver's menu and the solver's action with one hand. The columns of a file show which of two forms
it has. Before the flop, `prev_line` is such as `UTG/2.0bb/CO/6.5bb`; players who are not named have folded. After the
flop, `preflop_action` is such a line, and `postflop_action` continues in whole big blinds:
`OOP_CHECK/IP_BET_2/OOP_CALL/dealcards/Ts/...`.
"""

import csv
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from poker.game.betting import Betting
from poker.game.cards import hand_index, parse_cards
from poker.game.rules import CALL, FOLD, Rules
from poker.kernels.types import Board
from poker.run.errors import PokernetsError

ALL_IN = math.inf
_AMOUNT = re.compile(r"\d+(?:\.\d+)?")
_SEATS = ("OOP", "IP")


@dataclass(frozen=True)
class PublicDecision:
    """A decision.

    Actions are FOLD, CALL (also for a check), the total of the street in big blinds, or ALL_IN.

    Attributes:
        line: positions and actions before the flop.
        flop: [3] cards, or empty before the flop.
        words: actions after the flop (`check`, `bet2`, `raise8`, `call`, `allin`), with the cards of turn and river
            among them.
        position: position of the player to act; after the flop OOP or IP.
        hand: index of the player's hand.
        options: actions in the menu, by size.
        correct: index of the solver's action.
        verb: kind of the solver's action.
        pot: pot in big blinds.
    """

    line: tuple[tuple[str, float], ...]
    flop: Board
    words: tuple[str, ...]
    position: str
    hand: int
    options: tuple[float, ...]
    correct: int
    verb: str
    pot: float

    @property
    def board(self) -> Board:
        """All cards on the board, [0..5]."""
        return self.flop + tuple(card for word in self.words if is_card(word) for card in parse_cards(word))

    @property
    def raises(self) -> int:
        """Number of raises before the flop."""
        return sum(amount > 0 for _, amount in self.line)

    def before_flop(self, rules: Rules) -> Betting:
        """Return the betting after `line`: at a decision before the flop, else at the start of the flop.

        Raises:
            IllegalAction: the rules do not allow the line.
            PokernetsError: nobody acts after the line.
        """
        betting, names = Betting.start(rules), rules.positions
        for position, amount in self.line:
            while names[betting.to_act] != position:
                betting = betting.apply(FOLD)
            betting = betting.apply(chips(betting, amount))
        while not betting.is_over and (betting.street == 0 if self.flop else names[betting.to_act] != self.position):
            betting = betting.apply(FOLD)
        if betting.is_over:
            raise PokernetsError(f"after {self.line} nobody acts in {rules.name}")
        return betting

    def betting(self, rules: Rules) -> Betting:
        """Return the betting at the decision.

        Amounts after the flop are whole big blinds, as if the pot were whole too.

        Raises:
            IllegalAction: the rules do not allow the actions.
            PokernetsError: nobody acts after the line.
        """
        betting = self.before_flop(rules)
        for word in self.words:
            if not is_card(word):
                betting = betting.apply(chips(betting, amount_of(word)))
        return betting


def chips(betting: Betting, amount: float) -> int:
    """Return the legal action nearest to an amount of a decision.

    Args:
        amount: FOLD, CALL, a total in big blinds or ALL_IN.
    """
    legal = betting.legal()
    if amount in (FOLD, CALL) or not legal.max_raise:
        return FOLD if amount == FOLD else CALL
    start = max(betting.round_start()) if betting.street else 0
    total = legal.max_raise if amount == ALL_IN else start + round(amount * betting.rules.big_blind)
    return min(max(total, legal.min_raise), legal.max_raise)


def is_card(word: str) -> bool:
    """Return whether one of a decision's `words` deals a card."""
    return len(word) == 2 and word[1] in "cdhs"


def amount_of(text: str) -> float:
    """Return the action of a text such as `fold`, `check`, `2.5bb`, `Bet 3`, `raise8` or `allin`.

    Raises:
        PokernetsError: the text is not an action.
    """
    lowered = text.strip().lower()
    if lowered in ("fold", "check", "call"):
        return FOLD if lowered == "fold" else CALL
    number = _AMOUNT.search(lowered)
    if number is None and not lowered.startswith("allin"):
        raise PokernetsError(f"`{text[:100]}` is not an action")
    return float(number[0]) if number else ALL_IN


def read_decisions(path: str | Path) -> list[PublicDecision]:
    """Read the decisions in a CSV file of either form.

    Args:
        path: path of the file.

    Raises:
        PokernetsError: the file cannot be read; the message has the file and the place.
    """
    decisions: list[PublicDecision] = []
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if None in row.values():
                    raise PokernetsError("the next row has too few columns")
                decisions.append(_decision(row))
    except KeyError as error:
        raise PokernetsError(f"{path}: missing column {error} of PokerBench") from None
    except (OSError, csv.Error, PokernetsError, AttributeError, ValueError) as error:
        raise PokernetsError(f"{path}, after {len(decisions)} decisions: {error}") from None
    return decisions


def _words(text: str) -> tuple[str, ...]:
    """Return the words of the actions and cards after the flop."""
    words = (word for word in text.split("/") if word != "dealcards")
    short = (word.partition("_")[2].replace("_", "").lower() if word.startswith(_SEATS) else word for word in words)
    return tuple(filter(None, short))


def _line(text: str) -> tuple[tuple[str, float], ...]:
    parts = text.split("/") if text else []
    return tuple(zip(parts[::2], map(amount_of, parts[1::2]), strict=True))


def _decision(row: Mapping[str, str]) -> PublicDecision:
    if "prev_line" in row:
        line, flop, words = _line(row["prev_line"]), tuple[int, ...](), tuple[str, ...]()
        seat, held = row["hero_pos"], row["hero_holding"]
    else:
        line, flop, words = _line(row["preflop_action"]), parse_cards(row["board_flop"]), _words(row["postflop_action"])
        seat, held = row["hero_position"], row["holding"]
    verb, correct = re.split(r"[\s\d]", row["correct_decision"].strip().lower())[0], amount_of(row["correct_decision"])
    options = tuple(sorted({correct, *map(amount_of, re.findall(r"'([^']*)'", row["available_moves"]))}))
    hand, pot, place = hand_index(*parse_cards(held)), float(row["pot_size"]), options.index(correct)
    return PublicDecision(line, flop, words, seat, hand, options, place, verb or "raise", pot)
