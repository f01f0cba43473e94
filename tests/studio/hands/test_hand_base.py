"""Hands in one file: searched by what happened in them; reviewed there, and drilled."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from poker.agents.simple import RandomAgent
from poker.formats.histories import OHH, PHH, hand_texts, hands_of
from poker.formats.phh import phhs_texts
from poker.formats.played import PlayedHand
from poker.game.cards import HOLDEM, cards_text
from poker.game.rules import FOLD
from poker.game.state import HandState
from poker.opponents.profiles import profiles
from poker.play.hand import play_hand
from poker.run.errors import PokernetsError
from poker.studio.hands.drill import draw_spot, review_hand
from poker.studio.hands.hand_base import HandBase, HandSearch, ListedHand, rows_in, rows_of
from poker.studio.hands.hand_file import FileReviews
from tests.formats.samples import sample
from tests.formats.sites.test_pokerstars import TOURNAMENT
from tests.games import HEADS_UP as RULES
from tests.games import load_rules
from tests.search.even_leaf import even_solver
from tests.studio.hands.test_review import HEADS_UP

HANDS = 60


@pytest.fixture
def base(tmp_path: Path) -> HandBase:
    return HandBase(tmp_path / "visitor" / "hands.sqlite")


def session(count: int, players: int = 2) -> list[PlayedHand]:
    """Hands of random players, read back from what they were written as."""
    from poker.formats.acpc.log import LoggedHand  # noqa: PLC0415

    rules = RULES if players == 2 else load_rules(f"holdem_nolimit_{players}p")
    agents = [RandomAgent(name=f"p{seat}", raises=[0.5]) for seat in range(players)]
    for seat, agent in enumerate(agents):
        agent.reset(seat)
    rng, logged = np.random.default_rng(3), []
    for number in range(count):
        end = play_hand(agents, HandState.deal(rules, rng))
        names = tuple(f"p{(seat + number) % players}" for seat in range(players))
        logged.append(LoggedHand(number, end, tuple(map(float, end.payoffs())), names))
    return list(hands_of("".join(phhs_texts(logged)), "session", rules))


def test_results_match_the_hands(base: HandBase) -> None:
    hands = session(HANDS)
    assert base.add("session", rows_of(hands, "session")) == HANDS
    assert base.add("session", rows_of(hands, "session")) == 0
    assert dict(base.players()) == {"p0": HANDS, "p1": HANDS}
    assert base.sources() == [("session", HANDS)]
    own = [hand.payoffs[hand.names.index("p0")] / 100 for hand in hands]
    assert [net for _, net, _ in base.results(HandSearch("p0"))] == own
    button = [net for net, hand in zip(own, hands, strict=True) if hand.names[1] == "p0"]
    assert [net for _, net, _ in base.results(HandSearch("p0", position="BTN"))] == button
    assert base.results(HandSearch("p0", source="another")) == []
    assert base.results(HandSearch("nobody")) == []


def test_profiles_match_the_selected_hands(base: HandBase) -> None:
    hands = session(HANDS, 6)
    base.add("session", rows_of(hands, "session"))
    assert base.profiles(HandSearch("p0"), 10) == profiles(hands)
    button = [hand for hand in hands if hand.names[-1] == "p0"]
    assert base.profiles(HandSearch("p0", position="BTN"), 10) == profiles(button)
    assert list(base.profiles(HandSearch("p4", position="BTN"), 1)) == ["p4"]
    assert base.profiles(HandSearch("nobody"), 3) == {}


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(("order", "value"), [("net", attrgetter("net")), ("pot", attrgetter("pot"))])
def test_lists_are_sorted_and_come_in_pages(
    base: HandBase, order: str, value: Callable[[ListedHand], float], descending: bool
) -> None:
    hands, search = session(HANDS), HandSearch("p0")
    base.add("session", rows_of(hands, "session"))
    listed = [hand for skip in range(0, HANDS, 7) for hand in base.hands(search, 7, order, skip, descending=descending)]
    assert [value(hand) for hand in listed] == sorted(map(value, listed), reverse=descending)
    assert {hand.hand: hand.pot for hand in listed} == {
        number: sum(hand.paid) / 100 for number, hand in enumerate(hands, 1)
    }


def test_hands_are_selected_by_day_stakes_and_cards(base: HandBase) -> None:
    later = HEADS_UP.replace("2012/05/03", "2012/06/01").replace("#7", "#8").replace("$", "€").replace("USD", "EUR")
    base.add("two.txt", rows_in("two.txt", f"{HEADS_UP}\n\n{later}".encode(), RULES).hands)
    hands = session(HANDS)
    base.add("session", rows_of(hands, "session"))

    def found(**search: Any) -> list[int]:
        return [hand.hand for hand in base.hands(HandSearch("Ann", **search), 9, "begun", descending=False)]

    assert base.stakes() == ["50/100", "$0.25/$0.50", "€0.25/€0.50"]
    assert found(since="2012-05-03") == [1, 2]
    assert found(since="2012-05-04") == [2]
    assert found(until="2012-05-03") == found(since="2012-05-03", until="2012-05-03") == [1]
    assert found(until="2012-05-02") == found(cards="QQ+") == []
    assert found(cards="QQ+,KQs") == [1, 2]
    assert found(stakes="€0.25/€0.50") == [2]
    assert base.results(HandSearch("p0", until="2030-01-01")) == []
    pairs = [hand for hand in hands if len({card // 4 for card in hand.state.hole_cards[hand.names.index("p0")]}) == 1]
    assert len(base.results(HandSearch("p0", cards="22+"))) == len(pairs) > 0
    with pytest.raises(PokernetsError, match="range"):
        HandSearch("p0", cards="QQ+;x")


def test_hands_are_in_the_order_and_on_the_days_of_utc(base: HandBase) -> None:
    """One hand is at 03:30 UTC, the other in the evening before, at 23:00 in New York."""
    for name in ("two_time_zones", "partypoker_side_pots"):
        base.add(name, rows_in(name, sample(name).encode(), RULES).hands)
    search = HandSearch("Hero", since="2024-01-02", until="2024-01-02")
    listed = base.hands(search, 9, "begun", descending=False)
    assert [(hand.begun, hand.net) for hand in listed] == [("2024-01-02 03:30:00", -0.5), ("2024-01-02 04:00:00", 1)]
    assert len(base.hands(HandSearch("P1", since="2021-02-05", until="2021-02-05"), 9)) == 1


def test_an_all_in_has_a_mean_beside_its_result(base: HandBase) -> None:
    """The rake is paid from all pots."""
    text = sample("pokerstars_twice")
    base.add("twice.txt", rows_in("twice.txt", text.encode(), RULES).hands)
    [hand], nets = hands_of(text, "twice.txt"), {}
    for name in hand.names:
        [(_, net, nets[name])] = base.results(HandSearch(name))
        assert net == pytest.approx(hand.payoffs[hand.names.index(name)] / 50)
    assert sum(nets.values()) == pytest.approx(-hand.rake / 50)
    assert nets["Ann"] > 0 > nets["Bob"]  # a pair of queens against a king and an ace


def test_a_base_of_an_earlier_version_is_refused(base: HandBase, tmp_path: Path) -> None:
    """Its keys differ, so it would take hands that it has for new ones."""
    file = tmp_path / "visitor" / "hands.sqlite"
    HandBase(file)
    with closing(sqlite3.connect(file)) as old:
        old.execute("PRAGMA user_version = 1")
    with pytest.raises(PokernetsError, match=r"another version of pokernets wrote it.*move it away"):
        HandBase(file)


def test_lines_select_the_hands_with_a_matching_decision(base: HandBase) -> None:
    hands = session(HANDS)
    base.add("session", rows_of(hands, "session"))
    raised = [hand.number for hand in hands if hand.state.betting.actions[0][0] > 0]
    listed = base.hands(HandSearch("p0", line="r"), HANDS)
    ours = [hand for hand in hands if hand.number in raised and hand.names[0] == "p0"]
    assert len(listed) == len(ours) > 3
    assert all(one.line[0] == "r" for one in listed)
    folds = [hand for hand in hands if hand.state.betting.actions[0][0] == FOLD]
    assert len(base.hands(HandSearch("p0", line=""), 10**6)) == HANDS
    assert sum(one.line == "f" for one in base.hands(HandSearch("p0"), HANDS)) == len(folds)
    assert base.hands(HandSearch("p0", line="r*/x"), HANDS)
    for line in ("'; DROP TABLE hands; --", "*x*x*x*", "x" * 101):
        with pytest.raises(PokernetsError, match="a line has at most"):
            HandSearch("p0", line=line)
    assert base.results(HandSearch("' OR 1=1 --", "' OR 1=1 --", "' OR 1=1 --")) == []


def test_letters_of_a_line() -> None:
    [row], owner, _ = rows_in("f.txt", HEADS_UP.encode(), RULES)
    assert owner == "Ann"
    assert row.line == "rc/xx/xbc/brf"
    assert [(player, place, line, action) for player, place, _, line, action in row.decisions][-3:] == [
        ("Ben", 4, "rc/xx/xbc/", "b"),
        ("Ann", 3, "rc/xx/xbc/b", "r"),
        ("Ben", 5, "rc/xx/xbc/br", "f"),
    ]
    assert [(seat.player, seat.position, seat.cards) for seat in row.seats] == [
        ("Ben", "BB", ""),
        ("Ann", "BTN", "KhQh"),
    ]
    assert row.seats[1].net == pytest.approx(16.5)


def test_positions_at_larger_tables(base: HandBase) -> None:
    hands = session(5, 6)
    base.add("six", rows_of(hands, "six"))
    assert len(base.results(HandSearch("p0", position="HJ"))) == 1


def test_hand_of_a_site_is_recognised_in_another_file(base: HandBase) -> None:
    assert base.add("a.txt", rows_in("a.txt", HEADS_UP.encode(), RULES).hands) == 1
    assert base.add("b.txt", rows_in("b.txt", f"{HEADS_UP}\n\n{TOURNAMENT}".encode(), RULES).hands) == 1
    assert base.players()[0] == ("Ann", 1)
    with pytest.raises(PokernetsError, match=r"no\.txt, line 1: no hands"):
        rows_in("no.txt", b"no hands\n", RULES)


def test_a_hand_in_the_files_of_two_players_is_there_once_with_the_cards_of_both(base: HandBase) -> None:
    for player, added in (("p1", 1), ("p2", 0), ("p1", 0)):
        file = rows_in(f"{player}.txt", sample(f"pokerstars_file_of_{player}").encode(), RULES)
        assert (base.add(f"{player}.txt", file.hands), file.owner) == (added, player.upper())
    assert base.players() == [("P1", 1), ("P2", 1)]
    assert [base.results(HandSearch(player)) for player in ("P1", "P2")] == [[("BTN", 4.0, 4.0)], [("SB", -3.0, -3.0)]]
    [hand] = hands_of(base.text(1), "hand")
    assert [cards_text(cards) for cards in hand.state.hole_cards] == ["8c8d", "", "AhKd"]
    another = sample("pokerstars_file_of_p2").replace("bets $4", "bets $5").replace("bet ($4)", "bet ($5)")
    assert base.add("another.txt", rows_in("another.txt", another.encode(), RULES).hands) == 1


def test_hands_of_two_tables_in_one_second_are_two(base: HandBase) -> None:
    text = sample("winamax_two_tables")
    assert base.add("a.txt", rows_in("a.txt", text.encode(), RULES).hands) == 2
    assert [net for _, net, _ in base.results(HandSearch("Hero"))] == [1.5, 1.5]
    for kind in (PHH, OHH):
        hands = list(hands_of("".join(hand_texts(kind, hands_of(text, "a.txt"))), "b"))
        assert [hand.number for hand in hands] == [111 * 10**11 + 11600000300, 222 * 10**11 + 11600000300]
        assert base.add("b", rows_of(hands, "b")) == 0


@pytest.mark.parametrize("number", ["7", ""])
@pytest.mark.parametrize(
    ("old", "new"), [("Kh Qh", "Qs Js"), ("2012/05/03", "2012/05/04"), ("'Two'", "'Six'"), ("Ben", "Bob"), ("", "")]
)
def test_hands_with_other_cards_times_tables_or_players_are_two(
    base: HandBase, number: str, old: str, new: str
) -> None:
    text = HEADS_UP.replace("[2c 3d]", "")
    for source, changed, added in (("a", text, 1), ("b", text.replace(old, new), int(old != new)), ("c", text, 0)):
        [hand] = hands_of(changed, source)
        rows = list(rows_of([replace(hand, has_number=bool(number))], source))
        assert (base.add(source, rows), base.add(source, rows)) == (added, 0)


def test_hands_without_a_number_and_a_time_are_those_of_their_file(base: HandBase) -> None:
    [hand] = hands_of(HEADS_UP, "a")
    hand = replace(hand, has_number=False, details={"venue": "PokerStars"})
    for text, numbered in ((phhs_texts([hand]), False), (phhs_texts([replace(hand, has_number=True)]), True)):
        assert [one.has_number for one in hands_of("".join(text), "a")] == [numbered]
    assert [base.add(mark, rows_of([hand], mark)) for mark in ("a", "b", "a")] == [1, 1, 0]


def test_costs_of_decisions_and_drills(base: HandBase) -> None:
    """Reviews note what they cost; those that cost most are drawn, with another hand of the range."""
    agent = even_solver()
    reviews = FileReviews(RULES, agent)
    base.add("a.txt", rows_in("a.txt", HEADS_UP.encode(), RULES).hands)
    search = HandSearch("Ann")
    [hand] = base.unreviewed(search, 10)
    assert base.leaks(search, 10) == []
    watch = Mock()
    left_out = review_hand(base, hand, "Ann", reviews, watch)
    assert [one.args for one in watch.call_args_list] == [(number, 4) for number in range(1, 5)]
    assert [why.partition(":")[0] for why in left_out] == ["The stacks differ"] * 2  # before the turn
    [listed] = base.hands(search, 10)
    leaks = base.leaks(search, 10)
    assert leaks[0].cost == pytest.approx(max(leak.cost for leak in leaks))
    assert listed.cost == pytest.approx(sum(leak.cost for leak in leaks))
    assert leaks[0][:4] == ("BTN", "rc/xx/xbc/b", "r", 1)  # all-in with a pair of kings on AK279
    assert base.leaks(HandSearch("Ann", line="*b"), 10) == leaks[:1]
    rng = np.random.default_rng(5)
    spot = draw_spot(base, HandSearch("Ann", line="rc/xx/xbc/b"), RULES, agent, rng)
    assert (spot.seat, spot.taken, spot.state.street) == (1, 10000, 3)
    assert 10000 in spot.solved.actions
    weights = spot.solved.ranges[1] * HOLDEM.live(spot.state.board)
    for _ in range(20):
        dealt = spot.dealt(rng)
        cards = dealt.hole_cards[1]
        assert not set(cards) & set(spot.state.board)
        assert weights[cards[1] * (cards[1] - 1) // 2 + cards[0]] > 0
    decision = spot.answered(dealt, spot.solved.actions[0])
    assert decision.cards == cards
    assert decision.loss is not None
    with pytest.raises(PokernetsError, match="there is no decision to drill: no hands found"):
        draw_spot(base, HandSearch("nobody"), RULES, agent, rng)
    with pytest.raises(PokernetsError, match="the cards of `Ben` are unknown"):
        review_hand(base, hand, "Ben", reviews)


def test_hands_that_cannot_be_reviewed_are_counted_by_reason(base: HandBase) -> None:
    base.add("two", rows_of(session(5), "two"))
    base.add("three", rows_of(session(7, 3), "three"))
    assert base.unreviewable(HandSearch("p0")) == {"3 players": 7}
    assert len(base.unreviewed(HandSearch("p0"), 100)) + base.unreviewable(HandSearch("p0")).total() <= 12
    assert base.unreviewable(HandSearch("p0", source="two")) == {}


def test_owner_of_a_file_is_the_player_whose_cards_were_dealt() -> None:
    mucked = HEADS_UP.replace("Seat 2: Ben (big blind) folded on the River", "Seat 2: Ben (big blind) mucked [2c 3d]")
    for text, owner in (
        (mucked, "Ann"),
        (mucked.replace("Dealt to Ann [Kh Qh]", "Dealt to Ben [2c 3d]"), "Ben"),
        (HEADS_UP.replace("Dealt to Ann [Kh Qh]\n", ""), ""),
    ):
        assert rows_in("f.txt", text.encode(), RULES).owner == owner


def test_damaged_or_full_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.sqlite").write_text("no base" * 1000)
    with pytest.raises(PokernetsError, match=r"no\.sqlite cannot be used \(file is not a database\)"):
        HandBase(tmp_path / "no.sqlite")
    path = tmp_path / "full.sqlite"
    base = HandBase(path)
    with sqlite3.connect(path) as full:
        full.execute("CREATE TABLE filler (data BLOB)")
        full.execute("INSERT INTO filler VALUES (zeroblob(?))", [(1 << 28) - (1 << 16)])
    with pytest.raises(PokernetsError, match="is full: move it away"):
        base.add("session", rows_of(session(200), "session"))
    assert base.sources() == []
