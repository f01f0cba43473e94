"""Post-flop spots as files: board, ranges, pot, stack and bet menu, read into a game to solve.

A spot file is JSON, such as the `results.json` of a solve, or lines `key: value`:

    board: KsTh7s4d2s
    oop_range: 66+,A8s+,KQo,AhKd:0.5
    ip_range: random
    pot: 100
    stack: 300
    bet: 50%,100%,a
    raise: 2.5x,a

OOP is player 0 and acts first. Each key is given once. Menu keys are listed at `poker.tree.spots.spot_bets`
(`flop_bet`, `oop_turn_raise`, `river_donk`, ...), with the thresholds `add_allin_threshold`, `force_allin_threshold`
and `merging_threshold`. `rake` is a fraction of the pot and `rake_cap` is in chips. `lock WORDS` fixes the strategy at
a decision (`locks`).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poker.formats.histories import read_text
from poker.formats.ranges import parse_range
from poker.game.betting import Betting
from poker.game.cards import parse_cards
from poker.kernels.simd import LANES
from poker.kernels.types import Board, Singles
from poker.run.errors import PokernetsError, TooLargeError
from poker.run.limits import MOST_SPOT_BYTES, LimitError, check_length, parse_json
from poker.solvers.vector.boards import symmetries
from poker.solvers.vector.game import DEFAULT_MEMORY_LIMIT, VectorGame
from poker.solvers.vector.layout import Rake
from poker.store.artifacts import fingerprint_of
from poker.tree import BetMenu
from poker.tree.spots import spot_bets, spot_root, spot_tree

LOCK = "lock"
"""First word of the keys of locks."""
REQUIRED = ("board", "oop_range", "ip_range", "pot", "stack")
MOST_SPOT_CHIPS = 500_000_000
"""Most chips in the pot and in a stack, so that their sum fits in 32 bits."""
MOST_POTS = 10_000
"""Largest stack, in pots."""
MOST_RAISES = 64
"""Most bets and raises in one line, so that the product of their probabilities fits in a float32."""
LEAST_WEIGHT = 1e-9
"""Smallest sum of the products of weights over all pairs of hands without a common card."""
_NODE_BYTES = 500
"""Bytes per node while the tree is built and laid out."""
_ENTRY_BYTES = 4
"""Bytes per hand and action: half of what a solve needs, so that only trees far beyond the limit are cut short."""


@dataclass(frozen=True)
class Spot:
    """A post-flop spot.

    Attributes:
        text: the file's keys as written, which solutions store.
    """

    text: dict[str, Any]

    def __post_init__(self) -> None:
        """Check that no required key is missing.

        Raises:
            PokernetsError: a key is missing.
        """
        missing = [key for key in REQUIRED if key not in self.text]
        if missing:
            raise PokernetsError(f"spot: missing `{missing[0]}`; a spot needs {', '.join(REQUIRED)} and bet sizes")

    @property
    def name(self) -> str:
        """Name of the solution's folder: the board and a hash of all keys."""
        return f"{self.text['board']}-{fingerprint_of(self.text)[:8]}"

    @property
    def board(self) -> Board:
        """Cards of the board as integers."""
        return parse_cards(str(self.text["board"]))

    @property
    def pot(self) -> int:
        """Chips in the pot."""
        return self._chips("pot")

    def game(
        self,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
        wanted: Callable[[], bool] = lambda: True,
        most_entries: int | None = None,
    ) -> VectorGame:
        """Build the game to solve.

        Args:
            memory_limit: most bytes of a solve; a larger tree is refused as soon as that is certain.
            wanted: called while the tree is built; False stops the construction.
            most_entries: most hand-actions; None for no limit.

        Raises:
            PokernetsError: the spot is invalid, too large, or no longer `wanted`.
        """
        board = self.board
        ranges = []
        for key in ("oop_range", "ip_range"):
            try:
                ranges.append(parse_range(str(self.text[key])))
            except PokernetsError as error:
                raise PokernetsError(f"spot, `{key}`: {error}") from None
        menu = self._menu
        if not any(str(menu.get(key, "")).strip() for key in menu):
            raise PokernetsError("spot: the bet menu has no bet; write sizes such as `bet: 50%,100%`, `raise: 2.5x`")
        most = memory_limit if most_entries is None else most_entries * (_ENTRY_BYTES + _NODE_BYTES // LANES)
        bill = _bill(self.root, board, np.stack(ranges), most, wanted)
        stack = self._chips("stack")
        if stack > MOST_POTS * self.pot:
            raise PokernetsError(
                f"spot: the stack of {stack:,} behind a pot of {self.pot:,} is more than {MOST_POTS:,} pots,"
                " where 32-bit numbers cannot represent the pot's value"
            )
        tree = spot_tree(len(board), self.pot, stack, menu, watch=bill)
        if not (tree.action > 0).any():
            raise PokernetsError("spot: the bet menu contains no legal bet; write sizes such as `bet: 50%,100%`")
        rake = Rake(self._number("rake", 0.0), self._number("rake_cap", float("inf")))
        if not 0 <= rake.fraction < 1 or rake.cap < 0:
            raise PokernetsError(f"spot: rake {rake.fraction} must be a fraction from 0 to 1 and its cap not negative")
        if "rake_cap" in self.text and "rake" not in self.text:
            raise PokernetsError("spot: `rake_cap` has no effect without `rake`, a fraction of the pot")
        game = VectorGame(tree, board, np.stack(ranges), rake=rake, memory_limit=memory_limit)
        if game.total_weight < LEAST_WEIGHT:
            raise PokernetsError(
                f"spot: the weights of the hands that can meet multiply to a total of {game.total_weight:.1g},"
                " too small to compute with: scale the largest weight of each range to 1"
            )
        return game

    @property
    def root(self) -> Betting:
        """State of the betting at the root."""
        return spot_root(len(self.board), self._chips("stack"))

    @property
    def bets(self) -> BetMenu:
        """The bet menu."""
        return spot_bets(self._menu)

    @property
    def _menu(self) -> dict[str, Any]:
        others = (*REQUIRED, "rake", "rake_cap", *self.locks)
        return {key: value for key, value in self.text.items() if key not in others}

    @property
    def locks(self) -> dict[str, Any]:
        """The keys that lock decisions, with their values."""
        return {key: value for key, value in self.text.items() if key.split(" ")[0] == LOCK}

    def _chips(self, key: str) -> int:
        value = self._number(key, 0.0)
        if not 0 < value < math.inf or value != int(value):
            given = str(self.text[key])[:100]
            raise PokernetsError(f"spot: `{key}` must be a positive whole number of chips, not {given}")
        if value > MOST_SPOT_CHIPS:
            raise PokernetsError(f"spot: `{key}` must be at most {MOST_SPOT_CHIPS:,} chips, not {value:,.0f}")
        return int(value)

    def _number(self, key: str, default: float) -> float:
        try:
            value = float(self.text.get(key, default))
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if math.isnan(value):
            raise PokernetsError(f"spot: `{key}` must be a number, not `{str(self.text[key])[:100]}`")
        return value


def _bill(
    root: Betting, board: Board, ranges: Singles, limit: int, wanted: Callable[[], bool]
) -> Callable[[Betting, int], None]:
    """Return a function that adds up the memory of a growing tree, decision by decision.

    It raises PokernetsError if the tree exceeds the limit or is no longer `wanted`.
    """
    rules, total = root.rules, 0
    live = np.where(rules.space.live(board), ranges, 0)
    merged = len(symmetries(rules, board, live))
    held: dict[tuple[int, int], float] = {}
    """Hands summed over the boards of a street (up to isomorphism of suits), by street and player."""
    for player in range(2):
        entries = np.count_nonzero(live[player]) / merged
        for street in range(root.street, rules.num_streets):
            held[street, player] = entries
            entries *= rules.deck_size - rules.num_hole_cards - rules.board_sizes[street]

    def decision(betting: Betting, actions: int) -> None:
        nonlocal total
        if sum(action > 0 for action in betting.line) > MOST_RAISES:
            raise PokernetsError(
                f"spot: more than {MOST_RAISES} consecutive bets and raises are possible: use larger sizes, or `a`"
            )
        total += actions * (_NODE_BYTES + int(_ENTRY_BYTES * held[betting.street, betting.to_act]))
        if total > limit:
            raise TooLargeError(
                f"this solve needs more than the limit of {limit / 2**20:.0f} MiB: offer fewer bet sizes, narrow"
                " the ranges, or raise the limit"
            )
        if not wanted():
            raise PokernetsError("the solve of this spot was cancelled")

    return decision


def read_spot(path: str | Path) -> Spot:
    """Read a spot from a file; see `read_keys`."""
    return spot_of(read_keys(path))


def read_keys(path: str | Path) -> dict[str, Any]:
    """Read the keys of a spot from a file.

    Raises:
        PokernetsError: there is no such file, it is too long, or it is neither JSON nor lines as in `keys_of`.
    """
    file = Path(path)
    if not file.is_file():
        raise PokernetsError(f"there is no spot file {file}")
    text = read_text(file, MOST_SPOT_BYTES + 1)
    try:
        check_length(text, MOST_SPOT_BYTES, "a text")
    except LimitError as error:
        raise PokernetsError(f"{file}: {error}") from None
    if text.lstrip().startswith("{"):
        try:
            keys = parse_json(text)
        except (ValueError, LimitError) as error:
            raise PokernetsError(f"{file}: not valid JSON ({error})") from None
        for name in ("config", "spot"):  # the layout of a solution's manifest and of the results of a solve
            keys = keys.get(name, keys)
            if not isinstance(keys, dict):
                raise PokernetsError(f"{file}: `{name}` must contain the keys of a spot")
        return dict(keys)
    return dict(keys_of(text, str(file)))


def keys_of(text: str, source: str) -> dict[str, str]:
    """Read the keys of a spot from lines `key: value`.

    Args:
        text: the lines; `#` begins a comment.
        source: name of the text in messages.

    Raises:
        PokernetsError: a line is not `key: value`, or gives a key again; the message names the line.
    """
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        content = line.split("#")[0].strip()
        if not content:
            continue
        key, colon, value = map(str.strip, content.partition(":"))
        if not colon:
            raise PokernetsError(f"{source}, line {number}: expected `key: value`, found `{content[:100]}`")
        if key in values:
            raise PokernetsError(f"{source}, line {number}: `{key[:100]}` is given twice; write all sizes in one line")
        values[key] = value.strip("'\"")
    return values


def spot_of(values: Mapping[str, Any]) -> Spot:
    """Return the spot with these keys; values that are not numbers become text."""
    return Spot({str(key): value if type(value) in (int, float) else str(value) for key, value in values.items()})
