"""The 19 opponent inputs: against a second reading of the betting string, and on hands worked out by hand."""

import numpy as np
import pytest

from poker.depth_limit import inputs as leaf
from poker.game.cards import parse_cards
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import Betting
from poker.opponents.inputs import limit
from poker.opponents.inputs.limit import NAMES, bets_to_call, encode
from poker.store.shards import hash_of
from tests.games import load_rules


@pytest.fixture(scope="module")
def rules() -> Rules:
    return load_rules("holdem_limit_3p")


def named(betting: Betting, board: str) -> dict[str, float]:
    rounded = encode(betting, parse_cards(board)).astype(np.float64).round(6)
    return dict(zip(NAMES, rounded.tolist(), strict=True))


def test_a_hand_worked_out_by_hand(rules: Rules) -> None:
    # Blinds and bets of the three-player game: 5/10, 10/10/20/20. Button raises, small blind calls, big blind raises,
    # all call (90); on the flop the small blind bets and the big blind raises: the button has two bets to call.
    betting = Betting.parse(rules, "rcrcc/rr")
    assert rules.blinds == (5, 10, 0)
    assert (betting.pot, betting.to_call) == (120, 20)
    inputs = named(betting, "AhKh7h")
    wanted = dict.fromkeys(NAMES, 0.0) | {"pot_odds": 20 / 140, "bet_ratio": 1 / 2, "pot_ratio": 30 / 120}
    wanted |= dict.fromkeys(("bets_2", "flop", "faced_bet", "flush_possible", "ace", "king"), 1.0)
    wanted |= {"dealt_in": 0.3, "active": 0.3, "still_to_act": 0.1, "high_cards": 2 / 3}
    assert inputs == pytest.approx(wanted, abs=1e-6)
    after = named(betting.apply(FOLD), "AhKh7h")  # the small blind now faces the raise of its bet
    assert (after["committed"], after["was_aggressive"], after["faced_bet"]) == (1, 1, 0)
    assert after["bet_ratio"] == pytest.approx(1 / 3, abs=1e-6)  # two calls before the flop, one bet
    assert (after["active"], after["still_to_act"], after["bets_1"]) == pytest.approx((0.2, 0, 1))


def test_blinds_are_neither_bets_nor_voluntary_and_checks_are_no_calls(rules: Rules) -> None:
    first = named(Betting.parse(rules, ""), "")
    assert not any(first[name] for name in ("bet_ratio", "committed", "faced_bet", "was_aggressive", "flop", "turn"))
    option = named(Betting.parse(rules, "cc"), "")  # the big blind may check
    assert (option["committed"], option["bet_ratio"], option["bets_0"], option["pot_ratio"]) == (0, 0, 1, 0.333333)
    river = named(Betting.parse(rules, "ccc/ccc/ccc/"), "2c2d7hQs9c")
    assert (river["bet_ratio"], river["faced_bet"], river["river"]) == (0, 0, 1)  # one call, no bet
    assert (river["ace"], river["king"], river["high_cards"]) == pytest.approx((0, 0, 1 / 5))


def reference(rules: Rules, text: str, board: list[str]) -> list[float]:
    """The inputs from the betting string of a limit hand, step by step."""
    stacks, sizes = rules.stacks, rules.raise_sizes
    chips, folded = list(rules.blinds), [False] * rules.num_players
    deeds: list[tuple[int, int, str, bool]] = []
    streets = text.split("/")
    for street, actions in enumerate(streets):
        seat, done = rules.first_player[street], 0
        while done < len(actions):
            if folded[seat] or chips[seat] == stacks[seat]:
                seat = (seat + 1) % rules.num_players
                continue
            letter = actions[done]
            faced = max(chips) > chips[seat]
            deeds.append((street, seat, letter, faced))
            if letter == "f":
                folded[seat] = True
            elif letter == "c":
                chips[seat] = min(stacks[seat], max(chips))
            else:
                chips[seat] = min(stacks[seat], max(chips) + sizes[street])
            seat, done = (seat + 1) % rules.num_players, done + 1
    me, now = Betting.parse(rules, text).to_act, len(streets) - 1
    mine = [deed for deed in deeds if deed[1] == me]
    bets = sum(letter == "r" for _, _, letter, _ in mine)
    calls = sum(letter == "c" and faced for _, _, letter, faced in mine)
    this_round = [deed for deed in mine if deed[0] == now]
    to_call = min(max(chips), stacks[me]) - chips[me]
    level = min(2, int(np.ceil(to_call / sizes[now])))
    acted_since = set()
    for street, seat, letter, _ in reversed(deeds):
        if street < now:
            break
        acted_since.add(seat)
        if letter == "r":
            break
    waiting = [
        seat
        for seat in range(rules.num_players)
        if seat != me and not folded[seat] and chips[seat] < stacks[seat] and seat not in acted_since
    ]
    ranks = [card[0] for card in board]
    suits = [card[1] for card in board]
    values = [
        to_call / (sum(chips) + to_call),
        bets / (bets + calls) if bets + calls else 0,
        chips[me] / sum(chips),
        any(letter == "r" or (letter == "c" and faced) for _, _, letter, faced in this_round),
        level == 0,
        level == 1,
        level == 2,
        now == 1,
        now == 2,
        now == 3,
        bool(mine) and mine[-1][3],
        bool(mine) and mine[-1][2] == "r",
        rules.num_players / 10,
        folded.count(False) / 10,
        len(waiting) / 10,
        any(suits.count(suit) >= 3 for suit in "cdhs"),
        "A" in ranks,
        "K" in ranks,
        len({"A", "K", "Q"} & set(ranks)) / len(board) if board else 0,
    ]
    return [float(value) for value in values]


@pytest.mark.parametrize("game", ["holdem_limit_3p", "holdem_limit_10p"])
def test_inputs_match_their_definitions(game: str) -> None:
    rules = load_rules(game)
    generator = np.random.default_rng(3)
    deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    seen = 0
    for _ in range(120):
        betting = Betting.start(rules)
        cards = [deck[index] for index in generator.permutation(52)[:5]]
        while not betting.is_over:
            board = cards[: rules.board_sizes[betting.street]]
            inputs = encode(betting, parse_cards("".join(board)))
            assert inputs.tolist() == pytest.approx(reference(rules, betting.text(), board), abs=1e-6)
            seen += 1
            legal = betting.legal()
            draw = generator.random()
            action = legal.max_raise if draw < 0.25 and legal.max_raise else CALL
            betting = betting.apply(FOLD if legal.fold and draw > 0.75 else action)
    assert seen > 1000


def test_no_limit_counts_raises_since_the_own_action_and_sees_stacks() -> None:
    game = load_rules("holdem_nolimit_6p")  # blinds 50/100, 10,000 behind
    opened = Betting.start(game)
    assert [bets_to_call(opened), bets_to_call(opened.apply(300))] == [1, 2]
    for _ in range(3):
        opened = opened.apply(FOLD)
    assert bets_to_call(opened.apply(300).apply(FOLD)) == 1  # the big blind has one bet in
    betting = Betting.parse(game, "r300ffffc/cr600")
    inputs = dict(zip(NAMES, encode(betting, parse_cards("AhKh7h")).tolist(), strict=True))
    assert bets_to_call(betting) == 1
    assert inputs["pot_odds"] == pytest.approx(300 / 1250)
    assert inputs["ace"] == pytest.approx(9700 / (9700 + 950))  # `behind`
    assert inputs["king"] == 0  # `all_in`
    shove = encode(Betting.parse(game, "r300ffffc/cr10000"), parse_cards("AhKh7h"))
    assert shove[NAMES.index("king")] == 1
    assert bets_to_call(Betting.parse(game, "r300ffffc/cr600r2000r5000")) == 1
    assert bets_to_call(Betting.parse(game, "cccccc/ccr600r2000")) == 2


def test_somebody_is_to_act(rules: Rules) -> None:
    with pytest.raises(ValueError, match="nobody is to act"):
        encode(Betting.parse(rules, "ff"), ())


def test_the_hash_is_its_own(rules: Rules) -> None:
    assert limit.SIZE == len(set(NAMES)) == 19
    assert limit.HASH != leaf.HASH
    assert hash_of(NAMES[::-1], limit.VERSION) != limit.HASH
