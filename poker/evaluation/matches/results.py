"""Payoffs [session, seating, deal, entry] of a line-up, with luck-adjusted ones (AIVAT), and their reductions.

The unit of every interval is a session, averaged over its deals and seatings, so that units are independent. On request
it is a deal, which ignores learning from deal to deal.

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
"""Divisors of a session's length at which its stages end."""


def chip_value(rules: Rules, unit: Unit) -> float:
    """Return the value of one chip in a unit.

    Args:
        unit: `mbb` for thousandths of the big blind; `sb` for small bets (the first street's bet, or the big blind).
    """
    if unit == "mbb":
        return 1000.0 / max(rules.big_blind, 1)
    return 1.0 / (rules.raise_sizes[0] if rules.is_limit else rules.big_blind)


class Results:
    """Results of one line-up so far.

    Attributes:
        log: log of the hands.
        seatings: [S] entries in seat order.
        deals: number of deals of a session.
        by_deal: whether the unit is a deal.
        incidents: failures of agents.
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
        """Begin without results.

        Args:
            seatings: [S] entries in seat order.
            deals: number of deals of a session.
            independent: independent unit of the intervals.
            log: log of the hands.
        """
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

        """Error of the interval at each number of sessions after which the line-up stops if the interval excludes 0."""
        self.unknown_in: dict[int, dict[str, str]] = {}
        self.commits: Counter[str] = Counter()

        """Number of hands by the commit that played them."""
        self._scale = chip_value(rules, unit)
        self._chips = self._aivat = np.empty((0, len(self.seatings), deals, len(lineup.players)))
        self._values: dict[bool, Floats] = {}
        self._count = self._seen = self._look = 0

    def add(self, session: int, record: SessionRecord) -> None:
        """Add a session."""
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
        """Replace the luck-adjusted payoffs of a session and its unknown agents."""
        self._values.clear()
        if record.aivat:
            self._aivat = _placed(self._aivat, session, record.aivat)
        if record.unknown:
            self.unknown_in[session] = record.unknown

    def fill(self, chips: Floats, aivat: Floats | None = None) -> None:
        """Set all results at once.

        Args:
            chips: [session, S, D, P] chips; NaN for entries that took no part.
            aivat: [session, S, D, P] luck-adjusted chips; None without.
        """
        self._chips, self._count = chips, len(chips)
        if aivat is not None:
            self._aivat = aivat

    def _is_surplus(self, session: int) -> bool:
        """Return whether the session came after the stop; it is stored on disk but does not count."""
        return self.stopped_at is not None and session >= self.stopped_at

    def sessions(self, *, aivat: bool = False) -> list[int]:
        """Return the sessions that count.

        Args:
            aivat: only sessions with luck-adjusted payoffs.
        """
        played = np.flatnonzero(~np.isnan(self._aivat if aivat else self._chips).all(axis=(1, 2, 3)))
        return [session for session in played.tolist() if not self._is_surplus(session)]

    @property
    def hands(self) -> int:
        """Number of hands that count."""
        return self._count * len(self.seatings) * self.deals

    @property
    def has_aivat(self) -> bool:
        """Whether there are luck-adjusted payoffs."""
        return len(self._aivat) > 0

    @property
    def measures(self) -> dict[str, bool]:
        """Known measures by name, and whether each is luck-adjusted."""
        return {"chips": False, "aivat": True} if self.has_aivat else {"chips": False}

    @property
    def unknown(self) -> dict[str, str]:
        """Reasons by name for agents that failed or have no policy; AIVAT counts them as unknown everywhere."""
        reasons: dict[str, str] = {}
        for session, agents in sorted(self.unknown_in.items()):
            if not self._is_surplus(session):
                reasons = {**agents, **reasons}
        return reasons

    def payoffs(self, *, aivat: bool = False) -> Floats:
        """Return the payoffs of the sessions that count.

        Args:
            aivat: luck-adjusted payoffs.

        Returns:
            [session, S, D, P] payoffs.
        """
        scaled: Floats = (self._aivat if aivat else self._chips)[self.sessions(aivat=aivat)] * self._scale
        return scaled

    def _by_unit(self, *, aivat: bool = False) -> Floats:
        """Return the payoffs [n, S, D of a unit, P] of the units, in the order of the sessions."""
        payoffs = self.payoffs(aivat=aivat)
        if self.by_deal:
            return payoffs.swapaxes(1, 2).reshape(-1, len(self.seatings), 1, payoffs.shape[3])
        return payoffs

    def values(self, *, aivat: bool = False) -> Floats:
        """Return the results of the units.

        Args:
            aivat: luck-adjusted results.

        Returns:
            [n, P] results by entry.
        """
        if aivat not in self._values:
            self._values[aivat] = _mean(self._by_unit(aivat=aivat), (1, 2))
        return self._values[aivat]

    def estimates(self, *, aivat: bool = False) -> list[Estimate]:
        """Return estimates by entry.

        Args:
            aivat: luck-adjusted estimates.
        """
        return [estimate_of(column, self.error) for column in self.values(aivat=aivat).T]

    @property
    def error(self) -> float:
        """Probability that an interval of `estimates` misses the true mean; smaller if there are `looks`."""
        return self.looks.get(self._count, ERROR)

    @property
    def best(self) -> list[Estimate]:
        """Estimates by entry, luck-adjusted if possible."""
        return self.estimates(aivat=self.has_aivat)

    def tagged(self, unit: Unit) -> Iterator[tuple[str, Floats]]:
        """Iterate over the results of every entry and known measure.

        Args:
            unit: unit, for the name.

        Yields:
            Name of a scalar and [n] results.
        """
        for name, aivat in self.measures.items():
            for label, units in zip(self.lineup.labels, self.values(aivat=aivat).T, strict=True):
                yield f"{self.lineup.title}/{label}/{name}/{unit}_per_hand".replace(" ", "_"), units[~np.isnan(units)]

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the entries of some agents.

        Args:
            names: names of the agents.
        """
        return [entry for entry, player in enumerate(self.lineup.players) if player in names]

    def by_agent(self, name: str, *, aivat: bool = False) -> Floats:
        """Return the mean of all places of an agent.

        Args:
            aivat: luck-adjusted results.

        Returns:
            [n] results.
        """
        return _mean(self.values(aivat=aivat)[:, self.places([name])], 1)

    def over_sessions(self, name: str) -> Estimate:
        """Return the mean of all places of an agent, with an interval over sessions.

        Sessions are independent, even if agents learn within them.

        Args:
            name: name of the agent.
        """
        return estimate_of(_mean(self.payoffs()[..., self.places([name])], (1, 2, 3)))

    def by_stage(self, *, aivat: bool = False) -> dict[str, Estimate]:
        """Return the results of the first entry by stage of a session, which show learning.

        Stages are the first sixteenth of a session's deals, the rest of the first eighth, quarter and half, and the
        second half.

        Args:
            aivat: luck-adjusted results.
        """
        payoffs, start, stages = self.payoffs(aivat=aivat)[..., 0], 0, {}
        for share in _STAGES:
            end = self.deals // share
            if end > start:
                units = _mean(payoffs[:, :, start:end], 1 if self.by_deal else (1, 2)).ravel()
                stages[f"{start + 1}-{end}"] = estimate_of(units)
            start = end
        return stages

    def sd_per_hand(self, *, aivat: bool = False) -> float:
        """Return the standard deviation of the first entry over hands; 0 if it is only rounding.

        Args:
            aivat: luck-adjusted results.
        """
        hands = self.payoffs(aivat=aivat)[..., 0].ravel()
        hands = hands[~np.isnan(hands)]
        squares = float(hands @ hands)
        sd = float(np.std(hands, ddof=1)) if len(hands) > 1 else math.inf
        return sd if sd**2 * (len(hands) - 1) > _ROUNDING * squares else 0.0

    @property
    def first_look(self) -> int:
        """Number of sessions below which intervals may be too narrow: `FEW_UNITS` deals, and at least 100 sessions."""
        return max(_LEAST_SESSIONS, -(-FEW_UNITS // self.deals))

    @property
    def is_short(self) -> bool:
        """Whether there are too few sessions, or large results, to trust the intervals."""
        return self._count < self.first_look or any(one.has_few_large for one in self.best)

    def look(self, sessions: int) -> None:
        """Plan looks at which `check_stop` tests whether the interval excludes 0.

        Looks come after half of `sessions`, a quarter, ... down to `first_look`; the last look is after all. Each look
        uses a share of `ERROR` in proportion to the sessions since the look before. So the intervals of all looks are
        correct together with probability 1 - `ERROR` (Bonferroni), wherever the line-up stops.
        """
        ends = [sessions]
        while ends[0] // 2 >= self.first_look:
            ends.insert(0, ends[0] // 2)
        self.looks = {end: ERROR * (end - start) / sessions for start, end in pairwise([0, *ends])}

    def check_stop(self, half_width: float | None = None) -> None:
        """Stop the line-up at the first look with a narrow or significant result.

        Without planned `looks`, looks come after 400, 440, 484, ... deals, from `first_look` on. The looks make the
        stop independent of the order in which sessions are played.

        Args:
            half_width: largest half-width of the first entry's interval; None to stop at one of the planned `looks` if
                the interval excludes 0.
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
    """Return rows [session, S, D, P] with the chips of `session` set; missing sessions are NaN."""
    if session >= len(rows):
        more = np.full((max(64, 2 * session) - len(rows), *rows.shape[1:]), np.nan)
        rows = np.concatenate([rows, more])
    rows[session] = np.asarray(chips, dtype=np.float64).reshape(rows.shape[1:])
    return rows


def _mean(hands: Floats, axes: int | tuple[int, ...]) -> Floats:
    """Return the mean over the hands of an entry; NaN without hands."""
    there = ~np.isnan(hands)
    count = there.sum(axis=axes)
    total = np.where(there, hands, 0.0).sum(axis=axes)
    mean: Floats = np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
    return mean


def estimate_of(units: Floats, error: float = ERROR) -> Estimate:
    """Estimate a mean from the units that are not NaN.

    Args:
        units: [n] units.
        error: probability that the interval misses the true mean.
    """
    return estimate(units[~np.isnan(units)], error)
