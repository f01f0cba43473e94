"""Payoffs [session, seating, deal, entry] of a line-up, luck-adjusted (AIVAT) ones beside them, and their reductions.

The unit of every interval is a session, averaged over its deals and seatings, which makes units independent; or, on
request, a deal, which ignores what agents learn from deal to deal.

Symbols: n units, S seatings, D deals of a session, P entries.
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from poker.game.rules import Rules
from poker.kernels.types import Floats
from poker.play.hand import Incident
from poker.play.lineup import LineUp
from poker.play.session import SessionRecord
from poker.report.estimates import ERROR, FEW_UNITS, Estimate, estimate

Unit = Literal["mbb", "sb"]
Independent = Literal["session", "deal"]

_TIMES_KEPT = 20_000
_LEAST_SESSIONS = 100
SHORT = (
    f"A line-up has fewer than {FEW_UNITS} deals, or {_LEAST_SESSIONS} sessions, or a few large results that make most"
    " of the spread: its intervals may be too narrow."
)
_ROUNDING = 1e-12
_STAGES = (16, 8, 4, 2, 1)
"""Stages of a session end at its length divided by these."""


def chip_value(rules: Rules, unit: Unit) -> float:
    """One chip in thousandths of the big blind, or in small bets: the first street's bet, or the big blind."""
    if unit == "mbb":
        return 1000.0 / max(rules.big_blind, 1)
    return 1.0 / (rules.raise_sizes[0] if rules.is_limit else rules.big_blind)


class Results:
    """Results of one line-up so far, in `unit` per hand.

    `seatings` give the entry in every seat; `deals` are those of a session.
    """

    def __init__(
        self,
        rules: Rules,
        lineup: LineUp,
        seatings: Sequence[Sequence[int]],
        deals: int,
        *,
        unit: Unit = "mbb",
        independent: Independent = "session",
        log: Path,
    ) -> None:
        self.lineup = lineup
        self.log = log
        self.seatings = tuple(map(tuple, seatings))
        self.deals = deals
        self.by_deal = independent == "deal"
        self.incidents: list[Incident] = []
        self.seconds: dict[tuple[str, int], array[float]] = {}
        """Seconds of decisions, by agent and street."""
        self.kept = 0
        self.stopped_at: int | None = None
        self.looks: dict[int, float] = {}
        """Numbers of sessions after which the line-up stops if it is clear of 0 -> error of the interval there."""
        self.unknown_in: dict[int, dict[str, str]] = {}
        self.commits: Counter[str] = Counter()
        """Hands by the commit that played them."""
        self._scale = chip_value(rules, unit)
        self._chips = self._aivat = np.empty((0, len(self.seatings), deals, len(lineup.players)))
        self._values: dict[bool, Floats] = {}
        self._count = self._seen = self._look = 0

    def add(self, session: int, record: SessionRecord) -> None:
        self._chips = _placed(self._chips, session, record.payoffs)
        self.adjust(session, record)
        if self._is_surplus(session):
            return
        self._count += 1
        if record.commit:
            self.commits[record.commit] += len(record.payoffs)
        self.incidents += record.incidents
        for (entry, street), seconds in record.seconds.items():
            times = self.seconds.setdefault((self.lineup.players[entry], street), array("d"))
            times.extend(seconds[: max(0, _TIMES_KEPT - len(times))])

    def adjust(self, session: int, record: SessionRecord) -> None:
        """Takes the luck-adjusted payoffs of the record, and who is unknown in them."""
        self._values.clear()
        if record.aivat:
            self._aivat = _placed(self._aivat, session, record.aivat)
        if record.unknown:
            self.unknown_in[session] = record.unknown

    def fill(self, chips: Floats, aivat: Floats | None = None) -> None:
        """Takes whole results [session, S, D, P] in chips; NaN where an entry took no part."""
        self._chips, self._count = chips, len(chips)
        if aivat is not None:
            self._aivat = aivat

    def _is_surplus(self, session: int) -> bool:
        """Whether the session came after the stop: kept on disk, but no part of the result."""
        return self.stopped_at is not None and session >= self.stopped_at

    def sessions(self, *, aivat: bool = False) -> list[int]:
        """Sessions that count and have payoffs, with `aivat` luck-adjusted ones."""
        played = np.flatnonzero(~np.isnan(self._aivat if aivat else self._chips).all(axis=(1, 2, 3)))
        return [session for session in played.tolist() if not self._is_surplus(session)]

    @property
    def hands(self) -> int:
        return self._count * len(self.seatings) * self.deals

    @property
    def has_aivat(self) -> bool:
        return len(self._aivat) > 0

    @property
    def measures(self) -> dict[str, bool]:
        """Name of each known measure -> whether it is `aivat`."""
        return {"chips": False, "aivat": True} if self.has_aivat else {"chips": False}

    @property
    def unknown(self) -> dict[str, str]:
        """Agents that failed or whose policy is unavailable, and why: in AIVAT they count as unknown everywhere."""
        reasons: dict[str, str] = {}
        for session, agents in sorted(self.unknown_in.items()):
            if not self._is_surplus(session):
                reasons = {**agents, **reasons}
        return reasons

    def payoffs(self, *, aivat: bool = False) -> Floats:
        """[session, S, D, P] payoffs of the sessions that count, with `aivat` luck-adjusted ones."""
        scaled: Floats = (self._aivat if aivat else self._chips)[self.sessions(aivat=aivat)] * self._scale
        return scaled

    def _by_unit(self, *, aivat: bool = False) -> Floats:
        """[n, S, D of a unit, P] payoffs of the units, in the order of the sessions."""
        payoffs = self.payoffs(aivat=aivat)
        if self.by_deal:
            return payoffs.swapaxes(1, 2).reshape(-1, len(self.seatings), 1, payoffs.shape[3])
        return payoffs

    def values(self, *, aivat: bool = False) -> Floats:
        """[n, P] results of the units by entry."""
        if aivat not in self._values:
            self._values[aivat] = _mean(self._by_unit(aivat=aivat), (1, 2))
        return self._values[aivat]

    def estimates(self, *, aivat: bool = False) -> list[Estimate]:
        """[P] estimates by entry."""
        return [estimate_of(column, self.error) for column in self.values(aivat=aivat).T]

    @property
    def error(self) -> float:
        """Probability with which an interval of `estimates` misses the true mean: less where there are `looks`."""
        return self.looks.get(self._count, ERROR)

    @property
    def best(self) -> list[Estimate]:
        """[P] estimates by entry, luck-adjusted where they can be."""
        return self.estimates(aivat=self.has_aivat)

    def tagged(self, unit: Unit) -> Iterator[tuple[str, Floats]]:
        """Names for scalars with the results [n] of every entry, by chips and, where known, by AIVAT."""
        for name, aivat in self.measures.items():
            for label, units in zip(self.lineup.labels, self.values(aivat=aivat).T, strict=True):
                yield f"{self.lineup.title}/{label}/{name}/{unit}_per_hand".replace(" ", "_"), units[~np.isnan(units)]

    def places(self, names: Sequence[str]) -> list[int]:
        """Entries of these agents."""
        return [entry for entry, player in enumerate(self.lineup.players) if player in names]

    def by_agent(self, name: str, *, aivat: bool = False) -> Floats:
        """[n] mean of all places of an agent."""
        return _mean(self.values(aivat=aivat)[:, self.places([name])], 1)

    def over_sessions(self, name: str) -> Estimate:
        """Mean of all places of an agent, with an interval over whole sessions: independent whatever agents learn."""
        return estimate_of(_mean(self.payoffs()[..., self.places([name])], (1, 2, 3)))

    def by_stage(self, *, aivat: bool = False) -> dict[str, Estimate]:
        """Results of the first entry in the first sixteenth of a session's deals, in the rest of the first eighth,
        quarter and half, and in the second half: what agents learn."""
        payoffs, start, stages = self.payoffs(aivat=aivat)[..., 0], 0, {}
        for share in _STAGES:
            end = self.deals // share
            if end > start:
                units = _mean(payoffs[:, :, start:end], 1 if self.by_deal else (1, 2)).ravel()
                stages[f"{start + 1}-{end}"] = estimate_of(units)
            start = end
        return stages

    def sd_per_hand(self, *, aivat: bool = False) -> float:
        """Standard deviation of the first entry over hands; 0 where it cannot be told from rounding."""
        hands = self.payoffs(aivat=aivat)[..., 0].ravel()
        hands = hands[~np.isnan(hands)]
        squares = float(hands @ hands)
        sd = float(np.std(hands, ddof=1)) if len(hands) > 1 else math.inf
        return sd if sd**2 * (len(hands) - 1) > _ROUNDING * squares else 0.0

    @property
    def first_look(self) -> int:
        """Sessions below which intervals may be too narrow: those of `FEW_UNITS` deals, at least 100."""
        return max(_LEAST_SESSIONS, -(-FEW_UNITS // self.deals))

    @property
    def is_short(self) -> bool:
        """Whether sessions, or large results, are too few to trust the intervals."""
        return self._count < self.first_look or any(one.has_few_large for one in self.best)

    def look(self, sessions: int) -> None:
        """Let `check_stop` look whether the interval is clear of 0 after half of `sessions`, a quarter, ... down to
        `first_look`; the last look is after all.

        Each look spends of `ERROR` the share of the sessions since the one before it, so that the intervals of all
        looks hold together with probability 1 - `ERROR` (Bonferroni), wherever the line-up stops.
        """
        ends = [sessions]
        while ends[0] // 2 >= self.first_look:
            ends.insert(0, ends[0] // 2)
        self.looks = {end: ERROR * (end - start) / sessions for start, end in pairwise([0, *ends])}

    def check_stop(self, half_width: float | None = None) -> None:
        """Stops at the first look at which the interval of the first entry is no wider than `half_width`; without one,
        at the first of `looks` at which it is clear of 0.

        Looks are after 400, 440, 484, ... deals counted from the first (`first_look`), or those of `looks`, so where
        a match stops does not depend on the order in which its sessions were played.
        """
        self._look = self._look or min(self.looks, default=self.first_look)
        while self.stopped_at is None and not np.isnan(self._chips[self._seen : self._look, 0, 0, 0]).any():
            if len(self._chips) < self._look or self._look == max(self.looks, default=None):
                return
            failures = any(session < self._look for session in self.unknown_in)  # estimates to be revised
            units = self.values(aivat=self.has_aivat and not failures)[:, 0]
            size = self.deals if self.by_deal else 1
            won = estimate(units[: self._look * size], self.looks.get(self._look, ERROR))
            if won.half_width <= half_width if half_width is not None else won.low > 0 or won.high < 0:
                self.stopped_at = self._count = self._look
                self._values.clear()
            later = (look for look in self.looks if look > self._look)
            self._seen, self._look = self._look, min(later, default=self._look + max(1, self._look // 10))


def _placed(rows: Floats, session: int, chips: object) -> Floats:
    """Rows [session, S, D, P] with the chips of `session` in place; they grow as needed, NaN where none was played."""
    if session >= len(rows):
        more = np.full((max(64, 2 * session) - len(rows), *rows.shape[1:]), np.nan)
        rows = np.concatenate([rows, more])
    rows[session] = np.asarray(chips, dtype=np.float64).reshape(rows.shape[1:])
    return rows


def _mean(hands: Floats, axes: int | tuple[int, ...]) -> Floats:
    """Mean over the hands that an entry was in; NaN where it was in none."""
    there = ~np.isnan(hands)
    count = there.sum(axis=axes)
    total = np.where(there, hands, 0.0).sum(axis=axes)
    mean: Floats = np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
    return mean


def estimate_of(units: Floats, error: float = ERROR) -> Estimate:
    """Estimate from the units that are not NaN."""
    return estimate(units[~np.isnan(units)], error)
