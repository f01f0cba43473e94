import random
from dataclasses import replace

import pytest

from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import NOBODY, Betting, IllegalAction, Legal
from tests.cases import cases
from tests.games import load_rules as game
from tests.random_play import GAMES, nolimit, random_action

HEADS_UP = game("holdem_nolimit_2p")


def legal_after(rules: Rules, text: str) -> Legal:
    return Betting.parse(rules, text).legal()


def test_start_of_the_acpc_game() -> None:
    betting = Betting.start(HEADS_UP)
    assert betting.committed == (100, 50)
    assert betting.to_act == 1
    assert (betting.pot, betting.to_call) == (150, 50)
    assert betting.legal() == Legal(fold=True, call=True, min_raise=200, max_raise=20000)


CLOSED = Legal(True, True, 0, 0)
LIMIT = game("holdem_limit_2p")
UNEVEN = nolimit((5000, 5000, 5000, 500))


@cases
def test_legal_actions(table: str, text: str, expected: Legal) -> None:
    """At a game of `conf/game`, or no-limit hold'em with these stacks and, `of` that size, a big blind other than 100.

    By TDA rule 47, with the big blind as the smallest full raise.
    """
    stacks, _, blind = table.partition(" of ")
    rules = game(table) if "_" in table else nolimit(tuple(map(int, stacks.split())), int(blind or 100))
    assert legal_after(rules, text) == expected


@pytest.mark.parametrize(("all_in", "expected"), [(14, CLOSED), (15, Legal(True, True, 25, 25))])
def test_half_a_bet_reopens_limit_betting(all_in: int, expected: Legal) -> None:
    """TDA rule 47 B: all-ins after a bet of 10."""
    rules = replace(nolimit((240, 240, 240, all_in), 10), betting="limit", raise_sizes=(10, 10, 20, 20))
    assert legal_after(rules, "crfc") == expected


def test_rounds_end_and_totals_add_up() -> None:
    assert Betting.parse(UNEVEN, "r400r500ccc").street == 1
    assert Betting.parse(LIMIT, "rrrc/rrrrc/rrrrc/rrrrc").committed == (240, 240)


def test_raise_after_a_short_all_in_that_reopened_the_betting_is_accepted() -> None:
    betting = Betting.parse(nolimit((200, 200, 200, 3), 2), "cr3fc")
    with pytest.raises(
        IllegalAction, match="illegal action `raise to 10` of player 2 after `cr3fc`: legal are fold, call"
    ):
        betting.apply(10)
    raised = betting.apply_by(2, 10)
    assert [action for _, _, action in raised.turns()] == [CALL, 3, FOLD, CALL, 10]
    with pytest.raises(IllegalAction, match="raise to 4"):
        betting.apply_by(2, 4)


def test_the_whole_big_blind_is_called_though_it_is_all_in_for_less() -> None:
    """Player 1 has 30 of the 100 that the big blind is; the small blind of 50 is the highest bet posted."""
    rules = nolimit((5000, 30, 5000, 5000))
    start = Betting.start(rules)
    assert (start.committed, start.to_act, start.to_call) == ((50, 30, 0, 0), 2, 100)
    assert start.legal() == Legal(True, True, 200, 5000)
    assert Betting.parse(rules, "cf").to_call == 50
    assert Betting.parse(rules, "cfc").text() == "cfc/"
    assert legal_after(rules, "r300") == Legal(True, True, 500, 5000)


def test_nobody_completes_a_blind_against_players_who_are_all_in_for_less() -> None:
    rules = nolimit((5000, 30, 5000))
    assert Betting.parse(rules, "f").legal() == Legal(False, True, 0, 0)
    assert Betting.parse(rules, "fc").is_showdown


def test_games_of_the_acpc_keep_the_rules_of_its_dealer() -> None:
    """Its dealer lets a short all-in reopen the betting, and the smallest total stays the one before it."""
    ours = nolimit((5000, 5000, 5000, 500))
    dealers = Rules.from_acpc(ours.to_acpc(), ours.name)
    assert legal_after(ours, "r400r500") == Legal(True, True, 800, 5000)
    assert legal_after(dealers, "r400r500") == Legal(True, True, 700, 5000)
    assert legal_after(ours, "r400r500cc") == CLOSED
    assert legal_after(dealers, "r400r500cc") == Legal(True, True, 700, 5000)
    short = nolimit((5000, 400, 1000))
    assert legal_after(short, "r1000") == CLOSED
    assert legal_after(Rules.from_acpc(short.to_acpc()), "r1000") == Legal(True, True, 1900, 5000)


@cases
def test_blinds_above_the_stack(stacks: tuple[int, int], committed: tuple[int, int], to_act: int) -> None:
    betting = Betting.start(nolimit(stacks))
    assert (betting.committed, betting.to_act) == (committed, to_act)
    assert betting.is_showdown == (to_act < 0)
    assert to_act < 0 or betting.apply(CALL).is_over


def test_all_in_jumps_to_the_last_street() -> None:
    betting = Betting.parse(HEADS_UP, "r20000c")
    assert (betting.text(), betting.street, betting.is_showdown) == ("r20000c///", 3, True)
    flop = Betting.parse(HEADS_UP, "cc/r20000c")
    assert flop.text() == "cc/r20000c//"


def test_kuhn_betting_tree() -> None:
    ends = []

    def walk(betting: Betting) -> None:
        if betting.is_over:
            ends.append((betting.text(), betting.committed))
            return
        legal = betting.legal()
        for action in (FOLD, CALL, legal.min_raise):
            if legal.allows(action) and (action != 0 or legal.call):
                walk(betting.apply(action))

    walk(Betting.start(game("kuhn")))
    assert set(ends) == {("cc", (1, 1)), ("crf", (1, 2)), ("crc", (2, 2)), ("rf", (2, 1)), ("rc", (2, 2))}


@pytest.mark.parametrize("name", [*GAMES, "unequal"])
def test_betting_strings_round_trip(name: str) -> None:
    rules = nolimit((77, 12000, 345, 901, 4000, 100)) if name == "unequal" else game(name)
    rng = random.Random(1)
    for _ in range(200):
        betting = Betting.start(rules)
        while not betting.is_over:
            betting = betting.apply(random_action(betting.legal(), rng))
            assert Betting.parse(rules, betting.text()) == betting
        assert sum(betting.committed) == betting.pot
        assert all(chips <= stack for chips, stack in zip(betting.committed, rules.stacks, strict=True))


def test_a_hand_is_walked_along_its_line() -> None:
    betting = Betting.parse(HEADS_UP, "r300c/cr600c/")
    assert betting.line == [300, CALL, CALL, 600, CALL]
    assert [before.text() for before, _, _ in betting.turns()] == ["", "r300", "r300c/", "r300c/c", "r300c/cr600"]
    assert [(player, action) for _, player, action in betting.turns()] == list(betting.moves())
    assert [player for player, _ in betting.moves()] == [1, 0, 0, 1, 0]
    assert [betting.last_raiser(street) for street in range(3)] == [1, 1, NOBODY]


def test_unforced_folds_are_part_of_the_line() -> None:
    start = Betting.start(game("holdem_limit_3p"))
    betting = start.apply(CALL).leave(1).apply(CALL).apply_by(0, FOLD)
    assert list(betting.moves()) == [(2, CALL), (1, FOLD), (0, CALL), (0, FOLD)]
    assert [before.to_act for before, _, _ in betting.turns()] == [2, 0, 0, 0]
    assert [before.apply_by(player, action) for before, player, action in betting.turns()][-1] == betting
    with pytest.raises(IllegalAction, match="player 1 cannot act after ``: it is not their turn"):
        start.apply_by(1, CALL)


def test_subgame_roots() -> None:
    flop = Betting.parse(HEADS_UP, "r300c/")
    root = Betting.at_street(HEADS_UP, 1, (300, 300))
    assert (root.to_act, root.legal(), root.pot) == (flop.to_act, flop.legal(), 600)
    assert root.apply(600).apply(CALL).text() == "/r600c/"
    all_in = Betting.at_street(HEADS_UP, 1, (20000, 20000))
    assert all_in.is_showdown
    with pytest.raises(IllegalAction, match="must have matched"):
        Betting.at_street(HEADS_UP, 1, (300, 200))
    with pytest.raises(IllegalAction, match="do not fit"):
        Betting.at_street(HEADS_UP, 1, (30000, 30000))


@pytest.mark.parametrize(
    "text",
    [*["r0", "b0", "b00", "r0200", "r+200", "r2_00", "r２００", "R200", "k0", "f1"], "r200 ", "", "r" + "9" * 11],
)
def test_actions_have_totals_in_ascii_digits_without_a_leading_zero(text: str) -> None:
    """HTTP, MCP and logs parse whole bettings, served games single actions."""
    start = Betting.start(HEADS_UP)
    with pytest.raises(IllegalAction):
        start.apply(start.parse_action(text))
    with pytest.raises(IllegalAction):
        Betting.parse(HEADS_UP, f"{text}c" if text else "x")
    assert start.parse_action("b200", round_start=100) == 300
