import math
import re
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.evaluation.matches.match import WIDTH
from poker.evaluation.matches.match_report import match_report
from poker.evaluation.matches.match_results import MatchResults
from poker.evaluation.matches.results import Results, chip_value
from poker.formats.acpc.log import read_log
from poker.play.lineup import LineUp
from poker.report import Figure
from poker.report.estimates import FEW_UNITS, Estimate, estimate
from poker.run.progress import Console
from tests.games import LEDUC, load_rules
from tests.matches import SPECS, play_match
from tests.report.skewed import SKEWED_MEAN, skewed_results


def played(players: str, chips: Any, aivat: Any = None, game: str = "leduc") -> Results:
    """A line-up in one seating with these results [n] of its first player, which the last one pays."""
    names, rules = tuple(players.split()), load_rules(game)
    result = Results(rules, LineUp(names), [range(len(names))], 1, log=Path())
    scale = chip_value(rules, "mbb")

    def rows(mbb: Any) -> NDArray[np.float64]:
        won = np.asarray(mbb, dtype=np.float64) / scale
        return np.stack([won, *[0 * won] * (len(names) - 2), -won], axis=1)[:, None, None]

    result.fill(rows(chips), None if aivat is None else rows(aivat))
    return result


def match_of(*lineups: Results) -> MatchResults:
    names: dict[str, Any] = {name: {} for result in lineups for name in result.lineup.players}
    return MatchResults(LEDUC, "mbb", 1, 1, names, list(lineups))


def page_of(*lineups: Results) -> str:
    report = match_report(match_of(*lineups))
    return report.page({}, {"results": b"", "crosstable": b""})


def same(result: Estimate, expected: Estimate) -> bool:
    """Whether two estimates are equal up to rounding."""
    return bool(
        (result.mean, result.low, result.high, result.n)
        == pytest.approx((expected.mean, expected.low, expected.high, expected.n))
    )


@pytest.mark.slow
def test_stopping_rule_keeps_the_coverage() -> None:
    """1,000 simulated matches with skewed results that stop at a requested half-width: 93 to 97% coverage."""
    rng = np.random.default_rng(3)
    inside, lengths = 0, []
    for _ in range(1000):
        results = played("a b", skewed_results(rng, 1200))
        results.check_stop(350.0)
        assert results.stopped_at is not None
        result = results.estimates()[0]
        inside += result.low <= SKEWED_MEAN <= result.high
        lengths.append(result.n)
    assert 930 <= inside <= 970
    assert 400 < np.median(lengths) < 700


@pytest.mark.parametrize(("enough", "stop"), [(400, 400), (402, 440), (442, 484), (486, 532)])
def test_looks_are_a_tenth_apart_and_deals_after_the_stop_do_not_count(enough: int, stop: int) -> None:
    """`enough` deals are narrow enough, so the match ends at the first look after them."""
    units = np.tile([-1.0, 1.0], 400)
    results = played("a b", units)
    results.unknown_in = {stop - 1: {"a": "its last deal"}, stop: {"b": "a deal too late"}}
    results.check_stop(estimate(units[:enough]).half_width * (1 + 1e-9))
    assert (results.stopped_at, results.hands) == (stop, stop)
    assert results.sessions() == list(range(stop))
    assert results.estimates()[0].n == stop
    assert list(results.unknown) == ["a"]


def test_a_line_up_that_is_significant_stops_at_a_look_and_its_interval_pays_for_the_looks() -> None:
    units = np.tile([-1.0, 1.0], 1000)
    for mean, stop in ((0.2, 500), (0.08, 1000), (0.048, None), (-0.2, 500)):
        results = played("a b", units + mean)
        results.look(2000)
        assert results.looks == {500: 0.0125, 1000: 0.0125, 2000: 0.025}
        results.check_stop()
        assert results.stopped_at == stop
        count = stop or 2000
        [won, _] = results.estimates()
        error = 0.025 if stop is None else 0.0125
        assert won == estimate(units[:count] + mean, error)
        assert won.half_width == pytest.approx(NormalDist().inv_cdf(1 - error / 2) / math.sqrt(count), rel=0.01)
        assert match_report(match_of(results)).record["lineups"][0]["error_of_intervals"] == error
    few = played("a b", units[:700] + 1)
    few.look(700)  # too few to be looked at twice
    few.check_stop()
    assert (few.looks, few.stopped_at, few.error) == ({700: 0.05}, None, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.0, 0.1])
def test_intervals_cover_however_a_significant_line_up_stops(mean: float) -> None:
    """Intervals hold for 2,000 simulated line-ups with a mean of 0 or of a tenth of the spread. Plain 95% intervals at
    each look hold in 87% of the line-ups with mean 0."""
    rng, inside, stopped = np.random.default_rng(4), 0, 0
    for _ in range(2000):
        results = played("a b", rng.normal(mean, 1.0, 3200))
        results.look(3200)
        results.check_stop()
        [won, _] = results.estimates()
        inside += won.low <= mean <= won.high
        stopped += results.stopped_at is not None
    assert inside >= 1900
    assert stopped < 100 if mean == 0 else stopped > 1800


def test_first_look_is_after_400_deals_and_100_sessions() -> None:
    looks = [Results(LEDUC, LineUp(("a", "b")), [(0, 1)], deals, log=Path()).first_look for deals in (1, 3, 50)]
    assert looks == [400, 134, 100]


def test_sessions_are_looked_at_in_parts() -> None:
    """Two sessions of 64 deals in two seatings: the first player wins the number of the deal, in the second 1 more."""
    for independent, units in (("deal", 32), ("session", 2)):
        unit: Any = independent
        result = Results(LEDUC, LineUp(("a", "b")), [(0, 1), (1, 0)], 64, independent=unit, log=Path())
        deals = np.arange(1, 65) / chip_value(LEDUC, "mbb")
        won = np.stack([np.broadcast_to(deals, (2, 64)), np.broadcast_to(deals, (2, 64)) + deals[0]])
        result.fill(np.stack([won, -won], axis=-1))
        stages = result.by_stage()
        assert list(stages) == ["1-4", "5-8", "9-16", "17-32", "33-64"]
        assert [each.mean for each in stages.values()] == pytest.approx([3.0, 7.0, 13.0, 25.0, 49.0])
        assert stages["17-32"].n == units
        report = match_report(replace(match_of(result), session=64))
        assert report.record["lineups"][0]["by_stage"]["5-8"]["mean"] == pytest.approx(7.0)
        assert "Over a session" in report.page({}, {"results": b"", "crosstable": b"", "over_a_session": b""})
        pictures = {one.name: one for one in report.sections if isinstance(one, Figure)}
        [panel] = pictures["over_a_session"].draw().axes  # type: ignore[union-attr]
        assert panel.get_title() == "against b"
        container: Any = panel.containers[0]
        middles, means = container.lines[0].get_data()
        np.testing.assert_allclose(middles, [2.5, 6.5, 12.5, 24.5, 48.5])
        np.testing.assert_allclose(means, [3.0, 7.0, 13.0, 25.0, 49.0])


def test_short_matches_are_named() -> None:
    for deals, short in ((FEW_UNITS - 1, True), (FEW_UNITS, False)):
        report = match_report(match_of(played("a b", np.arange(deals))))
        assert report.record["lineups"][0]["intervals_may_be_too_narrow"] is short
        assert ("intervals may be too narrow" in page_of(played("a b", np.arange(deals)))) is short
    few = match_report(match_of(played("a b", np.repeat([-400.0, 1.0], [3, 997]))))
    assert few.record["lineups"][0]["intervals_may_be_too_narrow"]


def test_a_round_robin_is_reported_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = play_match(tmp_path, LEDUC, SPECS, hands=60, aivat=True)
    out = capsys.readouterr().out
    for text in ("row against column", "call less raise", "Standings", "its intervals may be too narrow"):
        assert text in out
    html = next(tmp_path.glob("leduc/call-raise-random-seed1-*/report.html")).read_text()
    headings = ("Everybody against everybody", "Who beats whom")
    for text in (*headings, '<td>call less raise</td><td class="text">random</td>'):
        assert text in html
    standings = results.run_off()
    assert {one.name for one in standings} == {"call", "raise", "random"}
    assert html.index(f"<td>{standings[0].name}</td>") < html.index(f"<td>{standings[-1].name}</td>")
    for result in results.lineups:
        first = result.lineup.players[0]
        chips = np.array([hand.payoffs[hand.names.index(first)] for hand in read_log(LEDUC, result.log)])
        assert 1000 * chips.reshape(-1, 2).mean(axis=1) == pytest.approx(result.values()[:, 0])


def test_means_over_lineups_by_chips_and_by_aivat() -> None:
    rng = np.random.default_rng(1)
    ab, ac, bc, reduced = rng.normal(size=(4, 50))
    lineups = [played("a b", ab, reduced), played("a c", ac, 2 * reduced), played("b c", bc)]
    match = match_of(*lineups)
    expected = {"a": estimate((ab + ac) / 2), "b": estimate((bc - ab) / 2), "c": estimate((-ac - bc) / 2)}
    assert match.by_agent().keys() == expected.keys()
    assert all(same(mean, expected[name]) for name, mean in match.by_agent().items())
    assert list(match.by_agent(aivat=True)) == ["a"]
    assert same(match.by_agent(aivat=True)["a"], estimate(1.5 * reduced))
    table = match.crosstable()
    for (row, column), (units, aivat) in {
        ("a", "b"): (reduced, True), ("c", "a"): (-2 * reduced, True), ("c", "b"): (-bc, False)
    }.items():  # fmt: skip
        assert same(table[row][column][0], estimate(units))
        assert table[row][column][1] is aivat
    record = match_report(match).record["agents"]
    assert record["a"]["aivat"]["mean"] == pytest.approx(1.5 * reduced.mean())
    assert "aivat" not in record["b"]
    assert f"{estimate(-bc):+} c</td>" in page_of(*lineups)


def test_standings_follow_an_instant_run_off() -> None:
    """Counting its winnings from `fish`, `shark` would be first; against the two others it is last."""
    noise = np.array([-1.0, 1.0] * 20)
    won = {"best second": 10, "best shark": 20, "best fish": 30, "second shark": 20, "second fish": 30}
    lineups = [played(players, mean + noise) for players, mean in won.items()]
    lineups.append(played("fish shark", -1000 + noise))
    match = match_of(*lineups)
    standings = match.run_off()
    assert [(one.name, one.opponents_left) for one in standings] == [
        ("best", 1), ("second", 1), ("shark", 2), ("fish", 3)
    ]  # fmt: skip
    assert [one.all.mean for one in standings] == pytest.approx([20, 40 / 3, 320, -1060 / 3])
    assert [one.left.mean for one in standings] == pytest.approx([10, -10, -20, -1060 / 3])
    assert same(standings[0].left, estimate(10 + noise))
    record = match_report(match).record["standings"]
    assert [one["agent"] for one in record] == ["best", "second", "shark", "fish"]
    assert record[2]["against_those_left"]["mean"] == pytest.approx(-20)
    assert re.search("<td>3</td>.{,20}shark.*?best, second</td>", page_of(*lineups))  # to whom it loses
    assert match_of(*lineups[:-1]).run_off() == []


def test_standings_use_aivat_where_all_line_ups_have_it() -> None:
    chips, aivat = np.array([-5.0, -7.0]), np.array([5.0, 7.0])
    assert [one.name for one in match_of(played("a b", chips, aivat)).run_off()] == ["a", "b"]
    part = match_of(played("a b", chips, aivat), played("a c", chips, aivat), played("b c", chips))
    assert [one.name for one in part.run_off()] == ["c", "b", "a"]


def test_a_large_round_robin_is_short_on_the_console(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page shows everything."""
    names = "abcdefg"
    pairs = [f"{first} {second}" for i, first in enumerate(names) for second in names[i + 1 :]]
    noise = np.array([-1.0, 1.0] * 20)
    report = match_report(match_of(*(played(pair, 1 + i + noise) for i, pair in enumerate(pairs))))
    report.write(tmp_path, Console(width=WIDTH))
    out = capsys.readouterr().out
    assert len(out.splitlines()) < 30
    assert "Standings" in out
    page = (tmp_path / "report.html").read_text()
    assert "f vs g" in page
    assert (tmp_path / "crosstable.png").stat().st_size > 10_000
    assert not (tmp_path / "results.png").exists()


def test_no_means_over_unlike_opponents() -> None:
    """Such line-ups arise under `evaluate=lbr`, where each agent meets its own adversaries."""
    chips = np.arange(10.0)
    match = match_of(played("x@a a", chips), played("y@a a", chips**2), played("x@b b", -chips))
    assert not match.is_round_robin
    assert match.by_agent() == {}
    assert match.crosstable() == {}
    assert "mean" not in match_report(match).record["agents"]["a"]
    assert "all line-ups" not in page_of(*match.lineups)
    compared = [(item.first, item.second, item.against) for item in match.contrasts()]
    assert compared == [("x@a", "y@a", ("a",)), ("a", "b", ("x",))]
    assert not match_of(played("a b", chips), played("b a", chips)).is_round_robin
    assert not match_of(played("a a", chips)).is_round_robin


def test_differences_on_the_same_cards_against_the_same_opponents() -> None:
    """Luck that a and b share against c cancels; AIVAT counts only where both have it."""
    rng = np.random.default_rng(2)
    luck, edge = rng.normal(0, 1000, 200), rng.normal(30, 1, 200)
    lineups = [played("a c", luck + edge, edge), played("c b", -luck), played("a b", luck), played("d c", luck, -edge)]
    contrasts = {(item.first, item.second, *item.against): item for item in match_of(*lineups).contrasts()}
    assert set(contrasts) == {("a", "b", "c"), ("a", "c", "b"), ("a", "d", "c"), ("b", "d", "c"), ("c", "b", "a")}
    item = contrasts["a", "b", "c"]
    assert not item.aivat
    assert item.difference.mean == pytest.approx(edge.mean())
    assert item.difference.half_width < 1
    assert contrasts["a", "d", "c"].aivat
    assert contrasts["a", "d", "c"].difference.mean == pytest.approx(2 * edge.mean())
    record = match_report(match_of(*lineups)).record
    [written] = [row for row in record["contrasts"] if row["second"] == "d" and row["first"] == "a"]
    assert (written["against"], written["by"]) == (["c"], "aivat")
    assert re.search(
        rf"<td>a less b</td><td[^>]*>c</td><td[^>]*>chips</td><td>{item.difference}</td>", page_of(*lineups)
    )


def test_differences_over_several_opponents_come_first() -> None:
    rng = np.random.default_rng(3)
    ac, ad, bc, bd = rng.normal(size=(4, 40))
    contrasts = match_of(played("a c", ac), played("a d", ad), played("b c", bc), played("d b", -bd)).contrasts()
    mine = [item for item in contrasts if (item.first, item.second) == ("a", "b")]
    assert [item.against for item in mine] == [("c", "d"), ("c",), ("d",)]
    assert same(mine[0].difference, estimate((ac + ad) / 2 - (bc + bd) / 2))


def test_selected_groups_are_compared() -> None:
    rng = np.random.default_rng(4)
    ab, ac, bc = rng.normal(size=(3, 40))
    match = match_of(played("a b", ab), played("a c", ac), played("b c", bc))
    match.pairs = [(["a"], ["b", "c"])]
    contrast = match.contrasts()[0]
    assert (contrast.first, contrast.second, contrast.against) == ("a", "b+c", ())
    assert same(contrast.difference, estimate((ab + ac) / 2 - (-ab + bc - ac - bc) / 4))


def test_with_more_than_three_players_the_order_counts() -> None:
    """Line-ups of six rotate: a player behind another is not a player before it."""

    def contrasts(*lineups: str) -> list[tuple[str, str]]:
        results = [played(players, np.arange(20.0), game="holdem_nolimit_6p") for players in lineups]
        return [(item.first, item.second) for item in match_of(*results).contrasts()]

    assert contrasts("a c d e f g", "d e f g b c") == [("a", "b")]
    assert contrasts("a c d e f g", "b d c e f g") == []


def test_a_spread_that_is_rounding_noise_is_none() -> None:
    assert played("a b", [0.1] * 1000).sd_per_hand() == 0.0
    hands = [0.1] * 1000 + [0.2]
    assert played("a b", hands).sd_per_hand() == pytest.approx(np.std(hands, ddof=1))


def test_adversaries_made_for_each_agent_are_one_opponent() -> None:
    match = match_of(
        played("lbr@a a", [3.0, 5.0, 10.0]),
        played("lbr@b b", [1.0, 2.0, 6.0]),
        played("odd@a a", [0.0, 0.0, 3.0]),
        played("odd@b b", [0.0, 6.0, 0.0]),
    )
    means = {(item.first, item.second, item.against): item.difference.mean for item in match.contrasts()}
    assert means["a", "b", ("lbr",)] == pytest.approx(-3.0)
    assert means["a", "b", ("odd",)] == pytest.approx(1.0)
    assert means["a", "b", ("lbr", "odd")] == pytest.approx(-1.0)
    assert ("lbr@a", "lbr@b", ("a",)) not in means


def test_adversaries_of_one_agent_are_not_compared() -> None:
    """Such line-ups arise under `evaluate=ladder`."""
    assert match_of(played("agent x", [1.0, 2.0]), played("agent y", [3.0, 4.0])).contrasts() == []
