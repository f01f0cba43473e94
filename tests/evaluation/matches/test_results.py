from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.evaluation.matches.comparisons import contrasts, crosstable, is_round_robin, over_tables
from poker.evaluation.matches.match import run
from poker.evaluation.matches.page import match_page
from poker.evaluation.matches.record import match_record
from poker.evaluation.matches.results import HandSpread, MatchResults, TableResults
from poker.evaluation.matches.table import AgentSpec, Schedule, Table
from poker.report.estimates import FEW_UNITS, estimate
from tests.evaluation.coverage import stored_deals
from tests.games import load_rules
from tests.report.skewed import SKEWED_MEAN, skewed_results

LEDUC = load_rules("leduc")


def played(players: str, chips: Any, aivat: Any = None) -> TableResults:
    """A heads-up table with these results [n] of its first player."""
    found = TableResults(Table(tuple(players.split())), Path(), Schedule(LEDUC, 1, 1))
    found.units = {i: [value, -value] for i, value in enumerate(chips)}
    if aivat is not None:
        found.aivat_units = {i: [value, -value] for i, value in enumerate(aivat)}
    for name, units in (("chips", found.units), ("aivat", found.aivat_units)):
        found.spread[name] = HandSpread()
        found.spread[name].add([value for value, _ in units.values()])
    return found


def match_of(*tables: TableResults) -> MatchResults:
    names: dict[str, Any] = {name: {} for table in tables for name in table.table.players}
    return MatchResults(LEDUC, 1, 1, names, list(tables))


@pytest.mark.slow
def test_stopping_rule_keeps_the_coverage() -> None:
    """1,000 simulated matches with skewed results that stop at a requested half-width: 93 to 97% coverage."""
    rng = np.random.default_rng(3)
    inside, lengths = 0, []
    for _ in range(1000):
        results = played("a b", skewed_results(rng, 1200))
        results.check_stop(350.0)
        assert results.stopped_at is not None
        found = results.estimates()[0]
        inside += found.low <= SKEWED_MEAN <= found.high
        lengths.append(found.n)
    assert 930 <= inside <= 970
    assert 400 < np.median(lengths) < 700


def test_first_look_is_after_400_deals_and_100_sessions() -> None:
    looks = [TableResults(Table(("a", "b")), Path(), Schedule(LEDUC, 1, session)).first_look for session in (1, 3, 50)]
    assert looks == [400, 134, 100]


def test_short_matches_are_named(tmp_path: Path) -> None:
    for deals, short in ((FEW_UNITS - 1, True), (FEW_UNITS, False)):
        results = match_of(played("a b", np.arange(deals)))
        assert match_record(results)["tables"][0]["intervals_may_be_too_narrow"] is short
        assert ("intervals may be too narrow" in match_page(results, b"").text().split("<pre>")[0]) is short


def test_a_round_robin_is_reported_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agents = [
        AgentSpec("call", lambda: AlwaysCall(name="call"), {}),
        AgentSpec("raise", lambda: AlwaysRaise(name="raise", raises=1), {}),
        AgentSpec("random", lambda: RandomAgent(name="random", raises=[1]), {}),
    ]
    results = run(
        game=LEDUC, agents=agents, tables=None, hands=60, session=1, seed=1, half_width=None, decision_seconds=None,
        aivat=True, processes=1, fresh=False, out=str(tmp_path),
    )  # fmt: skip
    told = capsys.readouterr().out
    for text in ("row against column", "call less raise", "raise, all tables", "its intervals may be too narrow"):
        assert text in told
    html = (tmp_path / "leduc" / "call-raise-random" / "report.html").read_text()
    for text in ("Everybody against everybody", "<td>call less raise</td><td>random</td><td>AIVAT</td>"):
        assert text in html
    for result in results.tables:
        deals = stored_deals(result.log)
        assert (1000 * deals["chips"]).tolist() == pytest.approx(result.values()[:, 0].tolist())
        assert (1000 * deals["AIVAT"]).tolist() == pytest.approx(result.values(aivat=True)[:, 0].tolist())


def test_means_over_tables_by_chips_and_by_aivat() -> None:
    rng = np.random.default_rng(1)
    ab, ac, bc, reduced = rng.normal(size=(4, 50))
    tables = [played("a b", ab, reduced), played("a c", ac, 2 * reduced), played("b c", bc)]
    assert over_tables(tables) == {
        "a": estimate((ab + ac) / 2), "b": estimate((bc - ab) / 2), "c": estimate((-ac - bc) / 2),
    }  # fmt: skip
    assert over_tables(tables, aivat=True) == {"a": estimate(1.5 * reduced)}
    table = crosstable(tables)
    assert table["a"]["b"] == (estimate(reduced), True)
    assert table["c"]["a"] == (estimate(-2 * reduced), True)
    assert table["c"]["b"] == (estimate(-bc), False)
    record = match_record(match_of(*tables))["agents"]
    assert record["a"]["aivat"]["mean"] == pytest.approx(1.5 * reduced.mean())
    assert "aivat" not in record["b"]
    text = match_page(match_of(*tables), b"").text()
    assert f"<td>c</td><td>{estimate(-2 * reduced):+}</td><td>{estimate(-bc):+} c</td><td></td>" in text
    assert "Over all tables" in text


def test_no_means_over_unlike_opponents() -> None:
    """As under `evaluate=lbr`, where each agent meets its own adversaries."""
    chips = np.arange(10.0)
    tables = [played("x@a a", chips), played("y@a a", chips**2), played("x@b b", -chips)]
    assert not is_round_robin(tables)
    assert over_tables(tables) == {}
    assert crosstable(tables) == {}
    assert "mean" not in match_record(match_of(*tables))["agents"]["a"]
    assert "Over all tables" not in match_page(match_of(*tables), b"").text()
    found = [(item.first, item.second, item.against) for item in contrasts(tables)]
    assert found == [("x@a", "y@a", ("a",)), ("a", "b", ("x",))]
    assert not is_round_robin([played("a b", chips), played("b a", chips)])
    assert not is_round_robin([played("a a", chips)])


def test_differences_on_the_same_cards_against_the_same_opponents() -> None:
    """The luck that a and b share against c falls out; AIVAT counts only where both have it."""
    rng = np.random.default_rng(2)
    luck, edge = rng.normal(0, 1000, 200), rng.normal(30, 1, 200)
    tables = [played("a c", luck + edge, edge), played("c b", -luck), played("a b", luck), played("d c", luck, -edge)]
    found = {(item.first, item.second, *item.against): item for item in contrasts(tables)}
    assert set(found) == {("a", "b", "c"), ("a", "c", "b"), ("a", "d", "c"), ("b", "d", "c"), ("c", "b", "a")}
    item = found["a", "b", "c"]
    assert not item.aivat
    assert item.found.mean == pytest.approx(edge.mean())
    assert item.found.half_width < 1
    assert found["a", "d", "c"].aivat
    assert found["a", "d", "c"].found.mean == pytest.approx(2 * edge.mean())
    [written] = [
        row for row in match_record(match_of(*tables))["contrasts"] if row["second"] == "d" and row["first"] == "a"
    ]
    assert (written["against"], written["by"]) == (["c"], "aivat")
    assert (
        f"<td>a less b</td><td>c</td><td>chips</td><td>{item.found:+}</td>" in match_page(match_of(*tables), b"").text()
    )


def test_differences_over_several_opponents_come_first() -> None:
    rng = np.random.default_rng(3)
    ac, ad, bc, bd = rng.normal(size=(4, 40))
    found = contrasts([played("a c", ac), played("a d", ad), played("b c", bc), played("d b", -bd)])
    mine = [item for item in found if (item.first, item.second) == ("a", "b")]
    assert [item.against for item in mine] == [("c", "d"), ("c",), ("d",)]
    assert mine[0].found == estimate((ac + ad) / 2 - (bc + bd) / 2)


def test_with_more_than_three_players_the_order_counts() -> None:
    """Tables of six rotate: a player behind another is not a player before it."""
    rules = load_rules("holdem_nolimit_6p")

    def table(players: str) -> TableResults:
        found = TableResults(Table(tuple(players.split())), Path(), Schedule(rules, 1, 1))
        found.units = {i: [float(i), 0.0, 0.0, 0.0, 0.0, -float(i)] for i in range(20)}
        return found

    assert [(item.first, item.second) for item in contrasts([table("a c d e f g"), table("d e f g b c")])] == [
        ("a", "b")
    ]
    assert contrasts([table("a c d e f g"), table("b d c e f g")]) == []


def test_a_spread_that_is_rounding_noise_is_none() -> None:
    spread = HandSpread()
    spread.add([0.1] * 1000)
    assert spread.sd == 0.0
    spread.add([0.2])
    assert spread.sd == pytest.approx(np.std([0.1] * 1000 + [0.2], ddof=1))


def test_adversaries_made_for_each_agent_are_one_opponent() -> None:
    tables = [
        played("lbr@a a", [3.0, 5.0, 10.0]),
        played("lbr@b b", [1.0, 2.0, 6.0]),
        played("odd@a a", [0.0, 0.0, 3.0]),
        played("odd@b b", [0.0, 6.0, 0.0]),
    ]
    found = {(item.first, item.second, item.against): item.found.mean for item in contrasts(tables)}
    assert found["a", "b", ("lbr",)] == pytest.approx(-3.0)
    assert found["a", "b", ("odd",)] == pytest.approx(1.0)
    assert found["a", "b", ("lbr", "odd")] == pytest.approx(-1.0)
    assert ("lbr@a", "lbr@b", ("a",)) not in found


def test_what_one_agent_is_measured_by_is_not_compared() -> None:
    """As in `evaluate=baselines`."""
    assert contrasts([played("agent x", [1.0, 2.0]), played("agent y", [3.0, 4.0])]) == []
