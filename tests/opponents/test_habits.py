"""A player learned from hands: frequencies come back, hands get them by strength, confidence grows."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from poker.abstraction.equities import showdown_chances
from poker.agents.base import Agent
from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.formats.acpc.log import log_line
from poker.formats.played import table_rules
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, hand_index, parse_cards
from poker.game.rules import CALL, FOLD, action_class
from poker.game.state import HandState
from poker.kernels.types import Reals
from poker.opponents.action_statistics import no_limit
from poker.opponents.habits import Habits, habits
from poker.opponents.hand_classes import by_strength, weaker_hands
from poker.opponents.inputs.no_limit import spot_of
from poker.opponents.model import context_of
from poker.opponents.shown import ShownHands
from poker.play.hand import play_hand
from poker.run.errors import PokernetsError
from tests.agents.opaque import Opaque
from tests.games import HEADS_UP as RULES

FLOP = parse_cards("Kh9h4c")
EVERY = np.ones(RULES.num_hands)


def random(seed: int = 0) -> RandomAgent:
    player = RandomAgent(name="random", raises=[0.5, 1])
    player.reset(seed)
    return player


class ByStrength(Opaque):
    """Raises to what `rule` says of a state and the share of weaker hands, and calls where that is 0 or not allowed."""

    def __init__(self, rule: Callable[[HandState, float], int]) -> None:
        self.rule = rule

    def act(self, state: HandState) -> int:
        strength = weaker_hands(RULES, state.board)[hand_index(*state.hole_cards[state.to_act])]
        return self.rule(state, strength) if state.legal().max_raise else CALL


BEST_HALF = ByStrength(lambda state, strength: state.legal().min_raise if strength > 0.5 else CALL)
CALLER, RAISER = AlwaysCall(name="caller"), AlwaysRaise(name="raiser", raises=[1])


def played(opponent: Agent, number: int, key: int = 5, against: Agent | None = None) -> list[HandState]:
    """Finished hands of `opponent`, as player 1, against a random player or another one."""
    players = [random() if against is None else against, opponent]
    return [play_hand(players, HandState.deal(RULES, np.random.default_rng([key, n]))) for n in range(number)]


def hands_of(opponent: Agent, number: int) -> list[HandState]:
    """Hands as seen by somebody who is shown no cards, which is quicker to learn from."""
    return [replace(hand, hole_cards=((), ())) for hand in played(opponent, number)]


def learned(hands: list[HandState], half: float = 5.0) -> Habits:
    model = Habits(half)
    for hand in hands:
        model = model.after(hand, 1)
    return model


def learned_from_a_caller(opponent: Agent, number: int, key: int) -> Habits:
    return learned([hand.view(0) for hand in played(opponent, number, key, CALLER)])


def asked(
    model: Habits, betting: Betting, board: tuple[int, ...], actions: tuple[int, ...], weights: Reals
) -> tuple[Reals, float]:
    """[H, A] probabilities on one board, for the range `weights` [H], and the confidence in them."""
    (probs,), confidence = model.probs(betting, [board], actions, weights[None])
    return probs, confidence


def after(*actions: int) -> Betting:
    state = Betting.start(RULES)
    for action in actions:
        state = state.apply(action)
    return state


def test_contexts_describe_the_bet_to_call_and_the_bettor() -> None:
    assert spot_of(after()) == (0, 1, 0, 1, 0)  # the small blind, half a pot to call
    assert spot_of(after(300)) == (0, 2, 1, 0, 2)  # a pot
    assert spot_of(after(300, 1200)) == (0, 3, 2, 1, 2)
    assert spot_of(after(300, CALL)) == (1, 0, 0, 0, 2)
    assert spot_of(after(300, CALL, 900)) == (1, 2, 1, 1, 2)
    assert spot_of(after(300, 20000)) == (0, 4, 2, 1, 2)


def test_frequencies_of_a_player_are_recovered() -> None:
    model = learned(hands_of(random(1), 1500), half=1.0)
    unasked = model.counts[1:, 0].sum(axis=(0, 1, 2, 3))
    np.testing.assert_allclose(unasked / unasked.sum(), [0, 0.5, 0.5], atol=0.05)
    small_blind = model.frequencies[spot_of(after())]
    np.testing.assert_allclose(small_blind, [1 / 3, 1 / 3, 1 / 3], atol=0.05)
    later, confidence = model.later(RULES, 0)
    np.testing.assert_allclose(later[:, 0], [[0, 0.5, 0.5]] * 3, atol=0.08)
    assert later.shape == (3, 2, 3)
    assert confidence > 0.9
    assert model.later(RULES, 2)[0].shape == (1, 2, 3)


def test_a_predictor_of_everybody_counts_a_player_alike() -> None:
    hands = hands_of(random(1), 30)
    predictor, model = no_limit(of_players=True), learned(hands)
    for hand in hands:
        for past, player, action in hand.betting.turns():
            predictor.update(context_of(past, (), str(player)), action_class(action))
    for betting in (after(), after(300), after(300, CALL), after(CALL, CALL, 200)):
        expected = model.frequencies[spot_of(betting)]
        np.testing.assert_allclose(predictor.probs(context_of(betting, (), "1")), expected, atol=1e-12)


def test_the_mean_over_any_range_is_the_frequency_of_the_context() -> None:
    surely = np.zeros_like(ShownHands().seen)
    surely[:, :, 1:] = -100.0
    model = replace(learned(hands_of(random(1), 300)), shown_hands=ShownHands(surely))  # nobody who bluffs
    betting = after(300, CALL, 900)
    actions = (FOLD, CALL, 2700, 20000)
    rng = np.random.default_rng(1)
    for weights in (EVERY, rng.random(RULES.num_hands) ** 4, np.where(weaker_hands(RULES, FLOP) > 0.8, 1.0, 0.0)):
        probs, confidence = asked(model, betting, FLOP, actions, weights)
        live = HOLDEM.live(FLOP)
        np.testing.assert_allclose(probs[live].sum(axis=1), 1, atol=1e-5)
        assert not probs[~live].any()
        mean = np.average(probs[live], axis=0, weights=np.asarray(weights, float)[live])
        expected = model.frequencies[spot_of(betting)]
        np.testing.assert_allclose([mean[0], mean[1], mean[2:].sum()], expected, atol=1e-4)
        order = np.argsort(weaker_hands(RULES, FLOP)[live])
        assert np.diff(probs[live][order, 0]).max() < 1e-6
        assert np.diff(probs[live][order, 2:].sum(axis=1)).min() > -1e-6
    assert 0 < confidence < 1


def test_actions_that_are_missing_pass_their_share_on() -> None:
    model = learned(hands_of(random(1), 300))
    pot, half = 600, 300
    betting = after(300, CALL)

    def mean(*actions: int) -> list[float]:
        means: list[float] = asked(model, betting, FLOP, actions, EVERY)[0][HOLDEM.live(FLOP)].mean(axis=0).tolist()
        return means

    calls, small, large = mean(CALL, 300 + half, 300 + pot)
    assert small == pytest.approx(large, rel=0.25)
    assert mean(CALL, 20000)[1] == pytest.approx(small + large, abs=1e-5)
    assert mean(CALL)[0] == pytest.approx(1, abs=1e-6)
    assert mean(CALL, 300 + half, 310 + half, 300 + pot)[1] == pytest.approx(small / 2, abs=1e-5)
    assert calls + small + large == pytest.approx(1, abs=1e-5)


def test_confidence_grows_with_every_observation_and_starts_from_none() -> None:
    hands = hands_of(random(1), 40)
    models = [learned(hands[:count]) for count in (0, 10, 20, 40)]
    assert not models[0].confidence.any()
    assert models[0].later(RULES, 0)[1] == 0
    for less, more in pairwise(models):
        assert (more.confidence >= less.confidence).all()
        assert more.confidence[spot_of(after())] > less.confidence[spot_of(after())]
    assert models[-1].confidence.max() < 1


def test_caller_is_distinguished_from_a_raiser_after_few_hands() -> None:
    calling = learned(hands_of(CALLER, 60))
    raising = learned(hands_of(RAISER, 60))
    betting, actions = after(300, CALL, CALL), (CALL, 600)
    assert asked(calling, betting, FLOP, actions, EVERY)[0][HOLDEM.live(FLOP), 0].mean() > 0.95
    assert asked(raising, betting, FLOP, actions, EVERY)[0][HOLDEM.live(FLOP), 1].mean() > 0.85


def test_antes_count_in_the_pot_that_bets_are_compared_with() -> None:
    def opened(ante: int, total: int) -> Habits:
        rules = table_rules(
            blinds=(100, 50), starting_stacks=(20000, 20000), min_bet=100, first_to_act=1, antes=(ante, ante)
        )
        betting = Betting.start(rules).apply(total)
        assert spot_of(betting) == (0, 1, 1, 0, 2)  # less than 0.6 pots are asked of the big blind
        return Habits().after(HandState(betting.apply(FOLD), ((), ()), ()), 1)

    np.testing.assert_array_equal(opened(0, 200).sizes, opened(100, 300).sizes)  # half a pot each


def test_folds_out_of_turn_count_for_nobody() -> None:
    hand = HandState(after(300).leave(1), ((), ()), ())
    assert hand.betting.actors == ((1, 1),)
    assert [Habits().after(hand, player).counts.sum() for player in range(2)] == [0, 1]


def spread(model: Habits, betting: Betting, board: tuple[int, ...]) -> float:
    """Standard deviation over hands of the raising frequency, relative to that of the model without hands shown."""
    deviations = []
    for each in (model, replace(model, shown_hands=ShownHands())):
        probs, _ = asked(each, betting, board, (CALL, 20000), EVERY)
        deviations.append(float(probs[HOLDEM.live(board), 1].std()))
    return deviations[0] / deviations[1]


def test_revealed_hands_identify_players_who_ignore_their_cards() -> None:
    model = learned([hand.view(0) for hand in played(random(1), 100)])
    assert spread(model, after(), ()) < 0.75
    assert spread(model, after(CALL, CALL), FLOP) < 0.5


@pytest.mark.parametrize("seat", [0, 1])
def test_revealed_hands_identify_players_who_use_their_cards(seat: int) -> None:
    players: list[Agent] = [CALLER, CALLER]
    players[seat] = BEST_HALF
    model = Habits()
    for number in range(15):
        hand = play_hand(players, HandState.deal(RULES, np.random.default_rng([6, number])))
        model = model.after(hand.view(1 - seat), seat)
    assert spread(model, after(), ()) > 1.05


def test_revealed_hands_identify_how_steeply_play_follows_strength() -> None:
    all_in_with_a_fifth = ByStrength(lambda state, strength: state.legal().max_raise if strength > 0.8 else CALL)

    def of_a_middling_hand(model: Habits) -> float:
        """All-in frequency of a hand that 30% of hands beat."""
        probs, _ = asked(model, after(), (), (FOLD, CALL, 20000), EVERY)
        strength = weaker_hands(RULES, ())
        return float(probs[np.abs(strength - 0.7).argmin(), 2])

    steep, flat = (learned_from_a_caller(player, 60, 7) for player in (all_in_with_a_fifth, random(3)))
    assert [Habits().shown_hands.shape(group).steepness for group in range(3)] == pytest.approx([1, 1, 1])
    assert steep.shown_hands.shape(0).steepness > 1.5
    assert flat.shown_hands.shape(0).steepness < 0.8
    unseen = replace(steep, shown_hands=ShownHands())
    assert of_a_middling_hand(steep) < 0.6 * of_a_middling_hand(unseen)
    assert steep != unseen


def test_equal_hands_make_equal_models_from_a_session_and_from_a_log(tmp_path: Path) -> None:
    hands = [hand.view(0) for hand in played(random(1), 30)]
    model = learned(hands)
    assert model == learned(hands)
    assert hash(model) == hash(learned(hands))
    assert model != learned(hands[1:])
    log = tmp_path / "match.log"
    ends = enumerate(played(random(1), 30))
    log.write_text("".join(log_line(end, number, ("villain", "hero")) + "\n" for number, end in ends))
    read = habits(hands=str(log), player="hero", game=RULES)
    np.testing.assert_array_equal(read.counts, model.counts)
    assert read == model
    with pytest.raises(PokernetsError, match="no heads-up no-limit hands of the player `nobody`"):
        habits(hands=str(log), player="nobody", game=RULES)
    assert habits() == Habits()
    with pytest.raises(PokernetsError, match="must be a positive number"):
        Habits(half=0)


def test_many_boards_are_answered_as_one_by_one() -> None:
    model, rng = learned(played(random(1), 30)), np.random.default_rng(3)
    betting, boards = after(CALL, CALL, CALL, 200), [FLOP, parse_cards("AdQd2d"), parse_cards("7c7d8s")]
    weights = rng.random((len(boards), RULES.num_hands)).astype(np.float32)
    actions = (FOLD, CALL, 600)
    together, confidence = model.probs(betting, boards, actions, weights)
    for board, probs, held in zip(boards, together, weights, strict=True):
        alone, sure = asked(model, betting, board, actions, held)
        np.testing.assert_array_equal(probs, alone)
        assert sure == confidence
    assert np.abs(np.diff(together, axis=0)).max() > 0.1


@pytest.mark.parametrize("text", ["KhKd9h4c2s", "AsKsQsJsTs", "2c3d5h7s9c"])
def test_weaker_hands_of_whole_boards_match_showdown_chances(text: str) -> None:
    board = parse_cards(text)
    live = HOLDEM.live(board)
    chances = np.round(showdown_chances(RULES, board, live.astype(np.float64)) / 990, 9)
    below = (chances[live] < chances[:, None]).sum(axis=1) + (chances[live] <= chances[:, None]).sum(axis=1)
    np.testing.assert_array_equal(weaker_hands(RULES, board), np.where(live, below / (2 * live.sum()), 0.0))


@pytest.mark.parametrize(("board", "first", "second"), [("", "7h6h", "Kc2d"), ("Kh9h4c", "QhTh", "Tc9c")])
def test_people_rank_hands_against_strong_ones(board: str, first: str, second: str) -> None:
    """Suited connectors and draws win less from any hand than a king or a pair do, and more from strong hands."""
    public, (one, two) = parse_cards(board), (hand_index(*parse_cards(text)) for text in (first, second))
    any_hand, strong = (by_strength(RULES, [public], people)[0] for people in (False, True))
    assert any_hand[one] < any_hand[two]
    assert strong[one] > strong[two]
    live = HOLDEM.live(public)
    assert (any_hand[~live] == -1).all() == (strong[~live] == -1).all()
    assert abs(any_hand[live].mean() - strong[live].mean()) < 1
    people, anybody = Habits(people=True), Habits()
    assert people != anybody
    acts = [each.probs(Betting.start(RULES), [()], (FOLD, CALL, 200), EVERY[None])[0][0] for each in (people, anybody)]
    assert acts[0][hand_index(*parse_cards("7h6h")), 0] < acts[1][hand_index(*parse_cards("7h6h")), 0]


def test_revealed_hands_identify_bluffers() -> None:
    def bet_both_ends(state: HandState, strength: float) -> int:
        """From the flop on, if there is nothing to call."""
        bets = state.betting.street > 0 and state.betting.to_call == 0 and abs(strength - 0.5) > 0.3
        return state.legal().min_raise if bets else CALL

    models = [learned_from_a_caller(player, 40, 8) for player in (ByStrength(bet_both_ends), BEST_HALF)]
    bluffing, honest = (model.shown_hands.shape(1).bluffs for model in models)
    assert bluffing > 0.3
    assert honest < 0.1
    probs, _ = asked(models[0], after(CALL, CALL, CALL), FLOP, (CALL, 200), EVERY)
    strength = weaker_hands(RULES, FLOP)
    worst, middle, best = (
        probs[(np.abs(strength - at) < 0.05) & HOLDEM.live(FLOP), 1].mean() for at in (0.1, 0.5, 0.9)
    )
    assert min(worst, best) > 2 * middle


def test_revealed_hands_identify_the_strength_of_higher_raises() -> None:
    def bet_more_with_the_best(state: HandState, strength: float) -> int:
        """Once a round with any hand."""
        if state.betting.num_raises:
            return CALL
        return state.legal().max_raise if strength > 2 / 3 else state.legal().min_raise

    by_strength, by_chance = (
        learned_from_a_caller(player, 30, 9) for player in (ByStrength(bet_more_with_the_best), random(3))
    )
    assert Habits().shown_hands.tilt(0) == Habits().shown_hands.tilt(3) == 0
    assert min(by_strength.shown_hands.tilt(street) for street in (0, 1)) > 2
    assert max(abs(by_chance.shown_hands.tilt(street)) for street in (0, 1)) < 1

    def best_less_worst(model: Habits) -> float:
        """All-in share of the best hands' bets, less that of the worst hands' bets."""
        probs = asked(model, after(CALL, CALL), FLOP, (CALL, 200, 20000), EVERY)[0]
        strength = weaker_hands(RULES, FLOP)
        live = HOLDEM.live(FLOP)
        worst, best = (probs[live & (np.abs(strength - at) < 0.1), 1:].sum(axis=0) for at in (0.1, 0.9))
        return float(best[1] / best.sum() - worst[1] / worst.sum())

    assert best_less_worst(by_strength) > 0.8
    assert abs(best_less_worst(by_chance)) < 0.3
    plain = replace(
        by_strength, shown_hands=replace(by_strength.shown_hands, sizes=np.zeros_like(by_strength.shown_hands.sizes))
    )
    for betting in (after(CALL, CALL), after(CALL, CALL, 300)):
        actions = (*((FOLD,) if betting.to_call else ()), CALL, 600, 800, 2000, 20000)
        for weights in (EVERY, np.random.default_rng(2).random(RULES.num_hands) ** 3):
            means, expected = (
                np.average(
                    asked(model, betting, FLOP, actions, weights)[0], axis=0, weights=weights * HOLDEM.live(FLOP)
                )
                for model in (by_strength, plain)
            )
            np.testing.assert_allclose(means, expected, atol=1e-5)
    assert by_strength != plain
