"""The HTML page of a match: results with and without luck, decisions, failures, and what was played before the flop."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poker.agents.base import hand_number
from poker.betting import Betting
from poker.cards import PREFLOP_CLASS
from poker.evaluation.matches.comparisons import contrasts, crosstable, over_tables
from poker.evaluation.matches.results import SHORT, MatchResults, TableResults
from poker.evaluation.pages.html import Page, range_picture
from poker.formats.acpc_log import read_log
from poker.report.estimates import Estimate
from poker.rules import CALL, FOLD, Rules

_PICTURED_HANDS = 20_000
_PUBLISHED = (
    ("lbr_fold_call: first raise 0.75 pots, then fold or call", "-570 ± 42"),
    ("lbr_flop_sizes: the same with 0.33 * 2^x pots on the flop", "-1,377 ± 115"),
)
"""[DLS] section 6.2: mbb per hand that two local best responses made of its agent, who won against both."""


def match_page(results: MatchResults, picture: bytes) -> Page:
    """Everything but the record; `picture` is the chart of the intervals."""
    page = Page(f"{results.title}: match of {', '.join(results.settings)}")
    note = (
        "mbb per hand with 95% intervals: ± both ways, or how far below and above the mean where results are skewed;"
        " AIVAT is unbiased as the chips are, with most of the luck out."
    )
    short = any(result.is_short for result in results.tables)
    page.heading("Results", f"{note} {SHORT}" if short else note)
    _results(page, results.tables)
    _comparisons(page, results.tables)
    against_lbr = any("@" in label for result in results.tables for label in result.table.labels)
    if against_lbr and not results.game.is_limit:
        page.heading(
            "Beside the figures of [DLS]", "mbb per hand of local best responses to its agent, which beat both"
        )
        page.table(("adversary", "published"), _PUBLISHED)
    page.png(picture, "intervals, and how the means settled")
    if any(result.aivat_units for result in results.tables):
        page.heading("Luck", "standard deviation in mbb per hand; duplicate: of a deal's mean, scaled to one hand")
        page.table(
            ("table", "chips", "duplicate", "AIVAT", "AIVAT and duplicate", "chips / AIVAT"),
            [_spread(result) for result in results.tables if result.aivat_units],
        )
    _decisions(page, results.tables)
    _failures(page, results.tables)
    add_first_decisions(page, results.game, [result.log for result in results.tables])
    return page


def _results(page: Page, tables: "list[TableResults]") -> None:
    rows = []
    for result in tables:
        pairs = list(zip(result.table.labels, result.estimates(), strict=True))
        reduced = result.estimates(aivat=True) if result.aivat_units else []
        for entry, (label, found) in enumerate(pairs[:1] if len(pairs) == 2 else pairs):
            name = result.table.title if len(pairs) == 2 else f"{label} at {result.table.title}"
            rows.append((name, found, reduced[entry] if reduced else "", result.hands, found.n))
    page.table(("result of", "chips", "AIVAT", "hands", "deals or sessions"), rows)


def crosstable_rows(found: Mapping[str, Mapping[str, tuple[Estimate, bool]]]) -> list[list[str]]:
    """A row an agent: its name, and what it won from everybody in the order of the rows; `c` marks chips."""
    return [[name, *("" if other == name else _marked(*row[other]) for other in found)] for name, row in found.items()]


def _marked(found: Estimate, aivat: bool) -> str:
    return f"{found:+}" + ("" if aivat else " c")


def _comparisons(page: Page, tables: "list[TableResults]") -> None:
    rows = crosstable_rows(crosstable(tables))
    if len(rows) > 2:
        page.heading("Everybody against everybody", "row against column; AIVAT where known, c: chips")
        page.table(("", *(row[0] for row in rows)), rows)
    if len(tables) > 1:
        chips, aivat = (over_tables(tables, aivat=flag) for flag in (False, True))
        if chips:
            page.heading("Over all tables", "mean over opponents, deal by deal")
            names = sorted(chips, key=lambda name: -aivat.get(name, chips[name]).mean)
            page.table(
                ("agent", "chips", "AIVAT", "deals or sessions"),
                [(name, chips[name], aivat.get(name), chips[name].n) for name in names],
            )
    found = contrasts(tables)
    if found:
        page.heading(
            "Differences between agents",
            "against the same opponents on the same cards, subtracted deal by deal, so that what they share falls out;"
            " of many differences one in twenty lies outside its interval",
        )
        page.table(
            ("difference", "against", "by", "mbb per hand", "deals or sessions"),
            [
                (
                    f"{item.first} less {item.second}",
                    ", ".join(item.against),
                    "AIVAT" if item.aivat else "chips",
                    item.found,
                    item.found.n,
                )
                for item in found
            ],
        )


def _spread(result: TableResults) -> tuple[object, ...]:
    seatings = len(result.schedule.seatings) ** 0.5
    chips, aivat = result.spread["chips"].sd, result.spread["aivat"].sd
    duplicate, both = (result.estimates(aivat=flag)[0].sd * seatings for flag in (False, True))
    return result.table.title, chips, duplicate, aivat, both if aivat else 0.0, chips / aivat if aivat else ""


def _decisions(page: Page, tables: "list[TableResults]") -> None:
    rows = [
        (name, result.table.title, street, len(times), float(np.median(times)) * 1e3, max(times) * 1e3)
        for result in tables
        for (name, street), times in sorted(result.seconds.items())
    ]
    if rows:
        page.heading("Time for a decision", "milliseconds")
        page.table(("agent", "table", "street", "decisions", "median", "longest"), rows)


def _failures(page: Page, tables: "list[TableResults]") -> None:
    rows = [(item.agent, result.table.title, item.hand, item.error) for result in tables for item in result.incidents]
    if rows:
        page.heading("Failures", "the agent checked or folded instead")
        page.table(("agent", "table", "hand", "error"), rows[:100])


def add_first_decisions(page: Page, rules: Rules, logs: Sequence[Path]) -> None:
    """Pictures by name of what was done first with each hand before the flop, in hold'em."""
    if rules.deck_size != 52 or rules.num_hole_cards != 2:
        return
    counts: dict[str, NDArray[np.float64]] = {}
    for log in logs:
        _count_first_decisions(rules, log, counts)
    page.heading(
        "First decisions before the flop", "share of the times each hand was dealt: blue fold, green call, red raise"
    )
    for label, seen in sorted(counts.items()):
        shares = seen / np.maximum(seen.sum(axis=1, keepdims=True), 1.0)
        page.figure(range_picture(shares), label)


def _count_first_decisions(rules: Rules, log: Path, counts: dict[str, NDArray[np.float64]]) -> None:
    """Adds to counts [169, 3] by name: folds, calls and raises of the first decision of each hand in a log."""
    for number, hand in enumerate(read_log(rules, log)):
        if number >= _PICTURED_HANDS:
            return
        betting = Betting.start(rules)
        seen: set[int] = set()
        for action in hand.state.betting.actions[0]:
            player = betting.to_act
            if player not in seen and hand.state.hole_cards[player]:
                kind = 0 if action == FOLD else 1 if action == CALL else 2
                table = counts.setdefault(hand.names[player].split("#")[0], np.zeros((169, 3)))
                table[PREFLOP_CLASS[hand_number(hand.state, player)], kind] += 1
                seen.add(player)
            betting = betting.apply(action)
