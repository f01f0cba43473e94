"""The leaf features against their definitions, offline against search, and the hash that names them."""

import dataclasses

import numpy as np
import pytest

from poker.abstraction.features import ahead_now, all_in_equity
from poker.depth_limit import inputs
from poker.depth_limit.inputs import (
    BoardFeatures,
    board_features,
    board_texture,
    encode_pairs,
    hand_shape,
    public_features,
)
from poker.game.cards import HAND_CARDS, HOLDEM, hand_index, parse_cards
from poker.game.rules import CALL, Rules
from poker.game.state import Betting
from poker.store.shards import hash_of
from tests.cases import cases
from tests.depth_limit import reference
from tests.games import load_rules


def random_end_of_round(rules: Rules, street: int, generator: np.random.Generator) -> Betting:
    """A state in which the round `street` has just ended and there are chips behind."""
    while True:
        betting = Betting.start(rules)
        while not betting.is_over and betting.street <= street:
            legal = betting.legal()
            raising = legal.max_raise and generator.random() < 0.4
            top = min(legal.max_raise, 4 * legal.min_raise)
            betting = betting.apply(int(generator.integers(legal.min_raise, top + 1)) if raising else CALL)
        if not betting.is_over:
            return betting


def deal(generator: np.random.Generator, count: int) -> tuple[int, ...]:
    return tuple(int(card) for card in generator.permutation(52)[:count])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.slow
def test_features_of_a_flop_state_match_their_definitions(rules: Rules, seed: int) -> None:
    generator = np.random.default_rng(seed)
    uneven = dataclasses.replace(rules, stacks=(int(generator.integers(3000, 20000)), 20000))
    cards = deal(generator, 7)
    board, hands = cards[:3], cards[3:]
    betting = random_end_of_round(uneven, 1, generator)
    for own in (0, 1):
        encoded = encode_pairs(
            board, betting, own, np.array([hand_index(*hands[:2])]), np.array([hand_index(*hands[2:])])
        )
        wanted = reference.flop_state(uneven, board, betting.text(), own, hands)
        for name, a, b in zip(inputs.NAMES, encoded[0].tolist(), wanted, strict=True):
            assert a == pytest.approx(b, abs=1e-6), name


def test_features_without_chance_are_right_on_many_states(rules: Rules) -> None:
    generator = np.random.default_rng(0)
    for _ in range(60):
        size = int(generator.choice([0, 3]))
        cards = deal(generator, size + 2)
        board, hand = cards[:size], cards[size:]
        texts = reference.texts(board), reference.texts(hand)
        shape, texture = hand_shape(board), board_texture(board)
        index = hand_index(*hand)
        encoded = [
            shape.category[index] / 8,
            shape.suited[index] / 5,
            shape.straight_outs[index] / 8,
            max(hand) // 4 / 12,
            min(hand) // 4 / 12,
            shape.overcards[index] / 2,
        ]
        assert encoded == pytest.approx(reference.shape(texts[1], texts[0]))
        public = [texture.pairing, texture.suited / 5, texture.straight_windows / 10, texture.high_rank / 12]
        assert public == pytest.approx(reference.texture(texts[0]))
        betting = random_end_of_round(rules, int(generator.integers(2)), generator)
        for own in (0, 1):
            assert public_features(betting, own) == pytest.approx(reference.betting(rules, betting.text(), own))


@cases
def test_draws_one_can_count_by_hand(
    hand: str, board: str, category: int, suited: int, outs: int, overcards: int
) -> None:
    shape = hand_shape(parse_cards(board))
    index = hand_index(*parse_cards(hand))
    counts = [shape.category[index], shape.suited[index], shape.straight_outs[index], shape.overcards[index]]
    assert counts == [category, suited, outs, overcards]


@pytest.mark.slow
@pytest.mark.parametrize("board", ["", "Ah7c2d", "JhJc2h", "8s8c8d", "9h8h7h"])
def test_search_encodes_bitwise_as_the_jobs_do(rules: Rules, board: str) -> None:
    generator = np.random.default_rng(1)
    cards = parse_cards(board)
    live = np.flatnonzero(HOLDEM.live(cards))
    own_hands, opp_hands = generator.choice(live, 37, replace=False), generator.choice(live, 23, replace=False)
    features = board_features(cards)
    pairs = np.stack((all_in_equity(cards), ahead_now(cards)), axis=2)[np.ix_(own_hands, opp_hands)]
    parts = inputs.GridParts(features.hands[own_hands], features.hands[opp_hands], pairs, features.texture)
    rows, columns = (side.ravel() for side in np.meshgrid(own_hands, opp_hands, indexing="ij"))
    for own in (0, 1, 0):
        betting = random_end_of_round(rules, 1 if board else 0, generator)
        [encoded] = inputs.grid_rows(parts, inputs.public_features(betting, own)[None])
        wanted = encode_pairs(cards, betting, own, rows, columns)
        assert encoded.dtype == wanted.dtype == np.float32
        assert encoded.tobytes() == wanted.tobytes()


@pytest.fixture(scope="module", params=["", "QsJs9h", "2c2d2h"])
def board_case(request: pytest.FixtureRequest) -> tuple[tuple[int, ...], BoardFeatures]:
    cards = parse_cards(request.param)
    return cards, board_features(cards)


def test_all_hands_are_within_range_and_dead_ones_zero(board_case: tuple[tuple[int, ...], BoardFeatures]) -> None:
    cards, features = board_case
    live, matrices = HOLDEM.live(cards), np.stack((all_in_equity(cards), ahead_now(cards)), axis=2)
    assert features.hands.min() >= 0
    assert features.hands.max() <= 1
    assert not features.hands[~live].any()
    assert not matrices[~live].any()
    assert features.hands[live, inputs.HAND_NAMES.index("equity")].mean() == pytest.approx(0.5)
    pairs = HOLDEM.disjoint & live & live[:, None]
    np.testing.assert_allclose((matrices + matrices.transpose(1, 0, 2))[pairs], 1, atol=1e-6)
    opponents = pairs.sum(axis=1)[live]
    mean = matrices[live].sum(axis=1, dtype=np.float64) / opponents[:, None]
    equity, strength = (features.hands[live, inputs.HAND_NAMES.index(name)] for name in ("equity", "strength"))
    np.testing.assert_allclose(mean[:, 0], equity, atol=1e-6)
    if cards:
        np.testing.assert_allclose(mean[:, 1], strength, atol=1e-6)
    assert not any(array.flags.writeable for array in (features.hands, features.texture))


def test_features_of_the_board_are_zero_before_the_flop(rules: Rules) -> None:
    betting = Betting.parse(rules, "r300c/")
    encoded = encode_pairs((), betting, 1, np.array([hand_index(*parse_cards("AhAc"))]), np.array([0]))[0]
    values = dict(zip(inputs.NAMES, encoded.tolist(), strict=True))
    for name in ("own_positive_potential", "own_negative_potential", *inputs.TEXTURE_NAMES):
        assert values[name] == 0, name
    assert values["own_equity"] == pytest.approx(0.85204, abs=1e-5)  # published: aces win 85.20% against any hand
    assert values["own_category"] == 1 / 8
    assert values["last_aggressor"] == 1
    assert values["pot_share"] == pytest.approx(600 / 40000)


@pytest.mark.parametrize("text", ["", "r300", "r300c/r600", "cc/cc/cc/cc", "r20000c", "f"])
def test_states_that_are_no_leaf_are_refused(rules: Rules, text: str) -> None:
    with pytest.raises(ValueError, match="is not a heads-up state in which a betting round has just ended"):
        public_features(Betting.parse(rules, text), 0)


def test_boards_of_other_streets_and_other_tables_are_refused(rules: Rules) -> None:
    with pytest.raises(ValueError, match="0 or 3 board cards, not 4"):
        board_features(parse_cards("AhKhQhJh"))
    three = Betting.parse(load_rules("holdem_limit_3p"), "ccc/")
    with pytest.raises(ValueError, match="heads-up"):
        public_features(three, 0)


def test_the_hash_names_names_order_and_version() -> None:
    assert hash_is_sixteen_digits(inputs.HASH)
    assert hash_of(inputs.NAMES, inputs.VERSION) == inputs.HASH
    others = {
        hash_of(("x", *inputs.NAMES[1:]), inputs.VERSION),
        hash_of((inputs.NAMES[1], inputs.NAMES[0], *inputs.NAMES[2:]), inputs.VERSION),
        hash_of(inputs.NAMES[:-1], inputs.VERSION),
        hash_of(inputs.NAMES, inputs.VERSION + 1),
    }
    assert len(others | {inputs.HASH}) == 5


def hash_is_sixteen_digits(text: str) -> bool:
    return len(text) == 16 and set(text) <= set("0123456789abcdef")


def test_there_are_34_names_and_each_has_its_column() -> None:
    assert inputs.SIZE == len(set(inputs.NAMES)) == 34
    assert inputs.NAMES[:11] == tuple(f"own_{name}" for name in inputs.HAND_NAMES)
    assert inputs.NAMES[22:24] == inputs.PAIR_NAMES
    features = board_features(parse_cards("Ah7c2d"))
    ranks = HAND_CARDS[HOLDEM.live(parse_cards("Ah7c2d"))] // 4
    live = features.hands[HOLDEM.live(parse_cards("Ah7c2d"))]
    np.testing.assert_allclose(live[:, inputs.HAND_NAMES.index("high_rank")] * 12, ranks.max(axis=1), atol=1e-5)
