"""Rules of a game: the content of an ACPC game definition, from Kuhn poker to ten-player no-limit hold'em.

Players and seats follow ACPC: player i posts `blinds[i]`. Heads-up definitions reverse the blinds: player 0 is the big
blind and acts last before the flop, and player 1 is the button. Chips are integers. Players are numbered from 0 here,
although the text format counts first players from 1. Antes are blinds that every player posts.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from poker.game.cards import RANKS, SUITS, CardSpace, card_space
from poker.run.errors import PokernetsError
from poker.run.limits import MOST_DEFINITION_BYTES, check_length

FOLD = -1
CALL = 0
NO_ACTION = -2
"""An action is FOLD, CALL (check or call) or a raise-to total > 0: all chips committed once the raise is made."""
FOLD_CLASS, CALL_CLASS, RAISE_CLASS = range(3)
"""Classes of actions: checks are calls, bets and all-ins are raises."""

STREET_NAMES = ("preflop", "flop", "turn", "river")

LIMIT = "limit"
NOLIMIT = "nolimit"

UNLIMITED = 2**31 - 1
"""Stack of a player in a definition without a `stack` line, as in ACPC."""
UNCAPPED = 255
"""Raises per street of a definition without a `maxRaises` line, as in ACPC."""

MAX_PLAYERS = 12
"""Seats at the largest table in the IRC hand histories."""
MAX_STREETS = 8
MAX_CARDS_SHOWN = 7

_LAYOUT = (
    *("num_players", "betting", "num_suits", "num_ranks", "num_hole_cards"),
    *("board_cards", "raise_sizes", "max_raises", "first_player"),
)
_CHIPS = "blinds", "stacks", "any_raise_reopens"


class ForcedChips(NamedTuple):
    """Chips that players must put in besides the blinds.

    Attributes:
        antes: [P] chips that form side pots as bets do.
        dead: [P] chips that go to the main pot.
    """

    antes: tuple[int, ...]
    dead: tuple[int, ...]


class RulesError(PokernetsError):
    """A game definition that cannot be played; the message names the field and its allowed values."""


def position_names(players: int) -> tuple[str, ...]:
    """Return the names of the positions at a table.

    The names are counted from the player who acts last after the flop: button, cutoff, hijack, then numbered early
    positions. Heads-up the big blind comes first.

    Args:
        players: number of players, at least 2.

    Returns:
        [P] names such as `SB`, `BB`, `UTG`, `CO` and `BTN`.
    """
    if players == 2:
        return "BB", "BTN"
    late = ("HJ", "CO", "BTN")[-(players - 2) :]
    early = ["UTG", *(f"UTG+{place}" for place in range(1, players - 5))]
    return ("SB", "BB", *early[: players - 2 - len(late)], *late)


@dataclass(frozen=True)
class Rules:
    """The rules of one game.

    Per-player tuples have `num_players` entries, per-street tuples `num_streets`. Lists (from YAML) are converted to
    tuples. With fewer than 4 suits or 13 ranks the deck has the highest ones, as in the ACPC dealer: Leduc is Qh Qs Kh
    Ks Ah As. Card = rank * num_suits + suit, both counted from the lowest in the deck.

    Attributes:
        name: name of the game, used in messages.
        num_players: number of players P.
        betting: `limit` or `nolimit`.
        blinds: [P] chips that each player posts.
        stacks: [P] chips of each player at the start, blinds included.
        raise_sizes: raise size of each street; empty for no-limit games.
        max_raises: largest number of raises on each street; empty for no cap.
        first_player: player who acts first on each street.
        num_suits: suits in the deck, 1 to 4.
        num_ranks: ranks in the deck, 1 to 13.
        num_hole_cards: cards of each player, 1 or 2.
        board_cards: cards dealt to the board at the start of each street.

    Raises:
        RulesError: a field has a value that the game cannot be played with.
    """

    name: str
    num_players: int
    betting: str
    blinds: tuple[int, ...]
    stacks: tuple[int, ...]
    raise_sizes: tuple[int, ...]
    max_raises: tuple[int, ...]
    first_player: tuple[int, ...]
    num_suits: int
    num_ranks: int
    num_hole_cards: int
    board_cards: tuple[int, ...]

    _MIN_STACK = 1
    any_raise_reopens = False
    """Whether a short all-in reopens the betting to players who have acted; see `AcpcRules`."""
    pot_limit = False

    def __post_init__(self) -> None:
        """Convert lists to tuples and check every field."""
        for field in fields(Rules):
            value = getattr(self, field.name)
            if field.type is str:
                self._require(isinstance(value, str), field.name, "text", value)
            elif field.type is int:
                self._require(type(value) is int, field.name, "an integer", value)
            else:
                object.__setattr__(self, field.name, self._int_tuple(field.name, value))
        if not self.max_raises:
            object.__setattr__(self, "max_raises", (UNCAPPED,) * len(self.board_cards))
        self._check_players()
        self._check_streets()
        self._check_deck()

    def _int_tuple(self, name: str, value: object) -> tuple[int, ...]:
        items = tuple(value) if isinstance(value, Iterable) else (None,)
        self._require(all(type(item) is int for item in items), name, "a list of integers", value)
        return items

    def _require(self, holds: bool, field: str, expected: str, value: object) -> None:
        if not holds:
            raise RulesError(f"game `{self.name}`: field `{field}` must be {expected}, not {value!r}")

    def _check_players(self) -> None:
        players = self.num_players
        self._require(2 <= players <= MAX_PLAYERS, "num_players", f"2 to {MAX_PLAYERS}", players)
        self._require(self.betting in (LIMIT, NOLIMIT), "betting", f"`{LIMIT}` or `{NOLIMIT}`", self.betting)
        for field, least in (("blinds", 0), ("stacks", self._MIN_STACK)):
            chips = getattr(self, field)
            good = len(chips) == players and least <= min(chips) and max(chips) <= UNLIMITED
            self._require(good, field, f"{players} amounts from {least} to {UNLIMITED}", chips)

    def _check_streets(self) -> None:
        streets = len(self.board_cards)
        per_street = f"for each of the {streets} streets"
        good = 1 <= streets <= MAX_STREETS and min(self.board_cards) >= 0
        self._require(good, "board_cards", f"1 to {MAX_STREETS} counts >= 0", self.board_cards)
        if self.betting == LIMIT:
            good = len(self.raise_sizes) == streets and min(self.raise_sizes) >= 1
            self._require(good, "raise_sizes", f"one amount >= 1 {per_street} of a limit game", self.raise_sizes)
        else:
            self._require(not self.raise_sizes, "raise_sizes", "empty in a no-limit game", self.raise_sizes)
        good = len(self.max_raises) == streets and min(self.max_raises) >= 0
        self._require(good, "max_raises", f"one number >= 0 {per_street}", self.max_raises)
        good = len(self.first_player) == streets and all(0 <= p < self.num_players for p in self.first_player)
        self._require(good, "first_player", f"one player 0 to {self.num_players - 1} {per_street}", self.first_player)

    def _check_deck(self) -> None:
        self._require(1 <= self.num_suits <= len(SUITS), "num_suits", "1 to 4", self.num_suits)
        self._require(1 <= self.num_ranks <= len(RANKS), "num_ranks", "1 to 13", self.num_ranks)
        self._require(1 <= self.num_hole_cards <= 2, "num_hole_cards", "1 or 2", self.num_hole_cards)
        dealt = self.num_players * self.num_hole_cards + sum(self.board_cards)
        expected = f"small enough for {self.num_players} hands in a deck of {self.deck_size}"
        self._require(dealt <= self.deck_size, "board_cards", expected, self.board_cards)
        in_a_hand = self.num_hole_cards + sum(self.board_cards)
        expected = f"few enough to make at most {MAX_CARDS_SHOWN} cards with the hole cards"
        self._require(in_a_hand <= MAX_CARDS_SHOWN, "board_cards", expected, self.board_cards)

    @property
    def num_streets(self) -> int:
        """Number of betting rounds."""
        return len(self.board_cards)

    @property
    def deck_size(self) -> int:
        """Number of cards in the deck."""
        return self.num_suits * self.num_ranks

    @property
    def space(self) -> CardSpace:
        """The card space of this deck: all hands, and which of them are possible together."""
        return card_space(self.deck_size, self.num_hole_cards)

    @cached_property
    def num_hands(self) -> int:
        """H, the number of ways to hold `num_hole_cards` cards."""
        return math.comb(self.deck_size, self.num_hole_cards)

    @cached_property
    def big_blind(self) -> int:
        """The largest blind, in chips."""
        return max(self.blinds)

    @cached_property
    def opening(self) -> int:
        """The total to call on the first street even if no blind reaches it; 0 stands for the largest posted blind."""
        return self.big_blind if self.num_players > 2 else 0

    @property
    def positions(self) -> tuple[str, ...]:
        """[P] names of the players' positions."""
        return position_names(self.num_players)

    @property
    def forced(self) -> "ForcedChips | None":
        """Chips in the pot besides the blinds and bets; None in ACPC games."""
        return None

    @cached_property
    def board_sizes(self) -> tuple[int, ...]:
        """Number of board cards on each street."""
        return tuple(sum(self.board_cards[: street + 1]) for street in range(self.num_streets))

    def ordered_board(self, board: tuple[int, ...]) -> tuple[int, ...]:
        """Return the board with the cards of each deal in ascending order, as one key for boards that play alike."""
        deals = pairwise((0, *self.board_sizes))
        return tuple(card for start, end in deals for card in sorted(board[start:end]))

    @property
    def total_board_cards(self) -> int:
        """Number of board cards on the last street."""
        return self.board_sizes[-1]

    @property
    def is_limit(self) -> bool:
        """Whether this is a limit game."""
        return self.betting == LIMIT

    def card_text(self, card: int) -> str:
        """Return the text of a card of this deck, such as `Ah`."""
        rank, suit = divmod(card, self.num_suits)
        return RANKS[len(RANKS) - self.num_ranks + rank] + SUITS[len(SUITS) - self.num_suits + suit]

    def cards_text(self, cards: tuple[int, ...]) -> str:
        """Return the text of several cards of this deck, such as `AhKd`."""
        return "".join(self.card_text(card) for card in cards)

    def parse_cards(self, text: str) -> tuple[int, ...]:
        """Return the cards of this deck in a text such as `AhKd`, with rank letters in either case.

        Raises:
            RulesError: the text contains something that is not a card of this deck.
        """
        if len(text) % 2:
            raise RulesError(f"cards `{text}`: each card is a rank and a suit, as in `AhKd`")
        cards = []
        for i in range(0, len(text), 2):
            rank = RANKS.find(text[i].upper()) - (len(RANKS) - self.num_ranks)
            suit = SUITS.find(text[i + 1].lower()) - (len(SUITS) - self.num_suits)
            if rank < 0 or suit < 0:
                raise RulesError(f"cards `{text}`: `{text[i : i + 2]}` is not a card of the game `{self.name}`")
            cards.append(rank * self.num_suits + suit)
        return tuple(cards)

    def must_fit(self, game: "Rules", what: str, remedy: str = "", *, exactly: bool = False) -> None:
        """Check that an object made for these rules can be used in another game.

        The deck, streets, players and their order must be the same. Names do not matter.

        Args:
            game: the other game.
            what: name of the object for the message.
            remedy: advice for the message; None for the usual advice.
            exactly: also require the same blinds and stacks.

        Raises:
            RulesError: the games differ; the message names the first field that differs.
        """
        for field in _LAYOUT + _CHIPS * exactly:
            value, needed = getattr(self, field), getattr(game, field)
            if value != needed:
                raise RulesError(
                    f"{what} was made for `{self.name}`, where {field} is {value}; in `{game.name}` it is {needed}:"
                    f" {remedy or 'make one for this game, or choose other `artifacts`'}"
                )

    @classmethod
    def from_acpc(cls, text: str, name: str = "acpc") -> "Rules":
        """Read an ACPC game definition (`GAMEDEF` ... `END GAMEDEF`).

        As in the ACPC programs, case does not matter, and `stack` (in limit games), `firstPlayer` and `maxRaises` are
        optional. An unknown line is an error here, because it is usually a misspelt field.

        Args:
            text: the definition.
            name: name of the game.

        Raises:
            RulesError: the definition is incomplete or has an unknown or invalid field.
        """
        check_length(text, MOST_DEFINITION_BYTES, f"game definition `{name}`: a text")
        fields = _read_fields(text, name)

        def numbers(field: str, count: int, default: int | None = None) -> tuple[int, ...]:
            if field not in fields and default is None:
                raise RulesError(f"game definition `{name}`: missing field `{field}`")
            values = tuple(map(int, fields[field].split())) if field in fields else (default or 0,) * count
            if len(values) != count:
                raise RulesError(
                    f"game definition `{name}`: field `{field}` must contain {count} integers, not {len(values)}"
                )
            return values

        if "betting" not in fields:
            raise RulesError(f"game definition `{name}`: missing field `limit` or `nolimit`")
        limited = fields["betting"] == LIMIT
        [players], [streets] = numbers("numPlayers", 1), numbers("numRounds", 1)
        for field, count, most in (("numPlayers", players, MAX_PLAYERS), ("numRounds", streets, MAX_STREETS)):
            if count > most:
                raise RulesError(f"game definition `{name}`: field `{field}` must be at most {most}, not {count}")
        game = cls(
            name=name,
            num_players=players,
            betting=fields["betting"],
            blinds=numbers("blind", players),
            stacks=numbers("stack", players, UNLIMITED if limited else None),
            raise_sizes=numbers("raiseSize", streets) if limited else (),
            max_raises=numbers("maxRaises", streets, UNCAPPED),
            first_player=tuple(player - 1 for player in numbers("firstPlayer", streets, 1)),
            num_suits=numbers("numSuits", 1)[0],
            num_ranks=numbers("numRanks", 1)[0],
            num_hole_cards=numbers("numHoleCards", 1)[0],
            board_cards=numbers("numBoardCards", streets),
        )
        return game.at_the_acpc()

    def at_the_acpc(self) -> "Rules":
        """Return the game as the dealer of the ACPC plays it."""
        differs = self.num_players > 2 and len(set(self.stacks)) > 1
        return (AcpcRules if differs else Rules)(**{field.name: getattr(self, field.name) for field in fields(Rules)})

    def to_acpc(self) -> str:
        """Return the definition as ACPC text, with lines in the order of the ACPC programs."""
        lines = ["GAMEDEF", self.betting, f"numPlayers = {self.num_players}", f"numRounds = {self.num_streets}"]

        def add(name: str, values: tuple[int, ...]) -> None:
            lines.append(f"{name} = {' '.join(map(str, values))}")

        if min(self.stacks) < UNLIMITED:
            add("stack", self.stacks)
        add("blind", self.blinds)
        if self.is_limit:
            add("raiseSize", self.raise_sizes)
        add("firstPlayer", tuple(player + 1 for player in self.first_player))
        if min(self.max_raises) < UNCAPPED:
            add("maxRaises", self.max_raises)
        add("numSuits", (self.num_suits,))
        add("numRanks", (self.num_ranks,))
        add("numHoleCards", (self.num_hole_cards,))
        add("numBoardCards", self.board_cards)
        return "\n".join([*lines, "END GAMEDEF", ""])


@dataclass(frozen=True)
class AcpcRules(Rules):
    """A game in which the dealer of the ACPC has its own rules: more than two players with different stacks.

    Every raise reopens the betting, however short. After a short all-in the smallest legal total is the one from before
    it. After a raise from 100 to 400 and an all-in of 500 it is 700, while our other rules require 800. A player may
    raise while another has any chips, even fewer than the bet. The total to call is the largest posted blind, and no
    blind may exceed its stack.
    """

    opening: int = 0
    any_raise_reopens: bool = True


def rules_from(values: Mapping[str, Any]) -> Rules:
    """Return the rules that `dataclasses.asdict` turned into `values`.

    Raises:
        RulesError: a field has a value that the game cannot be played with.
    """
    return (AcpcRules if "any_raise_reopens" in values else Rules)(**values)


def read_definition(path: str) -> Rules:
    """Read the game in an ACPC game definition file and name it after the file.

    Raises:
        RulesError: the file cannot be read or is not a valid definition.
    """
    file = Path(path)
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_DEFINITION_BYTES + 1)
        text = data.decode("ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise RulesError(f"game definition {file} cannot be read: {error}") from error
    return Rules.from_acpc(text, file.stem)


def action_class(action: int) -> int:
    """Return the class of an action."""
    return FOLD_CLASS if action == FOLD else CALL_CLASS if action == CALL else RAISE_CLASS


_ACPC_FIELDS = (
    *("stack", "blind", "raiseSize", "firstPlayer", "maxRaises", "numBoardCards"),
    *("numPlayers", "numRounds", "numSuits", "numRanks", "numHoleCards"),
)


def _read_fields(text: str, name: str) -> dict[str, str]:
    """Return the text of each field by its ACPC name; the betting type is under `betting`."""
    names = {field.lower(): field for field in _ACPC_FIELDS}
    fields: dict[str, str] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line, where = raw.strip(), f"game definition `{name}`, line {number}"
        lower = line.lower()
        if not line or line.startswith("#") or lower == "gamedef":
            continue
        if lower == "end gamedef":
            break
        if lower in (LIMIT, NOLIMIT):
            field, value = "betting", lower
        else:
            match = re.fullmatch(r"([A-Za-z]++)\s*+=?\s*+([-+0-9.,\w\s]*)", line)
            key, value = match.groups() if match else ("", "")
            if key.lower() not in names:
                allowed = ", ".join([LIMIT, NOLIMIT, *_ACPC_FIELDS])
                raise RulesError(f"{where}: unknown field in `{line[:100]}`; known: {allowed}")
            field = names[key.lower()]
            if not re.fullmatch(r"[0-9]+(\s+[0-9]+)*", value.strip()):
                raise RulesError(f"{where}: field `{field}` must contain integers >= 0, not `{value.strip()[:100]}`")
            if max(map(len, value.split())) > 10:
                raise RulesError(f"{where}: field `{field}` must contain integers of at most 10 digits")
        if field in fields:
            raise RulesError(f"{where}: field `{field}` occurs twice")
        fields[field] = value
    return fields
