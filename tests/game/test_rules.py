from dataclasses import asdict, replace
from typing import Any

import pytest

from poker.game.rules import UNCAPPED, UNLIMITED, AcpcRules, Rules, RulesError, rules_from
from tests.cases import cases
from tests.formats.samples import sample
from tests.games import load_rules as game
from tests.random_play import GAMES

LEDUC = sample("definition")


@pytest.mark.parametrize("name", GAMES)
def test_acpc_text_round_trips(name: str) -> None:
    rules = game(name)
    assert rules.name == name
    assert Rules.from_acpc(rules.to_acpc(), name) == rules


def test_definitions_are_games_of_the_acpc() -> None:
    """Its dealer has rules of its own where stacks differ and more than two play."""
    six = game("holdem_nolimit_6p")
    uneven = replace(six, stacks=(100, *six.stacks[1:]))
    dealers = Rules.from_acpc(uneven.to_acpc(), uneven.name)
    assert (type(dealers), dealers.to_acpc()) == (AcpcRules, uneven.to_acpc())
    assert dealers.at_the_acpc() == uneven.at_the_acpc() == dealers != uneven
    assert (uneven.opening, dealers.opening, game("holdem_nolimit_2p").opening) == (100, 0, 0)
    assert [rules_from(asdict(rules)) for rules in (uneven, dealers)] == [uneven, dealers]
    with pytest.raises(RulesError, match="any_raise_reopens is True; in `holdem_nolimit_6p` it is False"):
        dealers.must_fit(uneven, "the blueprint", exactly=True)


def test_reads_a_published_definition() -> None:
    rules = Rules.from_acpc(LEDUC, "leduc")
    assert rules.stacks == (UNLIMITED, UNLIMITED)
    assert rules.raise_sizes == (2, 4)
    assert rules.first_player == (0, 0)
    assert (rules.deck_size, rules.num_hands, rules.num_streets, rules.big_blind) == (6, 6, 2, 1)
    assert rules.to_acpc().splitlines() == [line for line in LEDUC.splitlines() if line and line[0] != "#"]


def test_optional_lines_and_case() -> None:
    text = LEDUC.replace("firstPlayer = 1 1\n", "").replace("maxRaises = 2 2\n", "").replace(" = ", " ").upper()
    rules = Rules.from_acpc(text)
    assert rules.first_player == (0, 0)
    assert rules.max_raises == (UNCAPPED, UNCAPPED)


@cases
def test_values_of_the_wrong_type_are_refused(name: str, value: Any) -> None:
    values = {name: getattr(game("kuhn"), name) for name in Rules.__dataclass_fields__}
    with pytest.raises(RulesError, match=f"`{name}` must be"):
        Rules(**{**values, name: value})


def test_cards_of_small_decks_are_the_highest() -> None:
    assert game("kuhn").cards_text((0, 1, 2)) == "QsKsAs"
    leduc = game("leduc")
    assert leduc.cards_text(tuple(range(6))) == "QhQsKhKsAhAs"
    holdem = game("holdem_nolimit_2p")
    assert holdem.parse_cards("2cAsTd") == (0, 51, 33)
    for rules in (leduc, holdem):
        everything = tuple(range(rules.deck_size))
        assert rules.parse_cards(rules.cards_text(everything)) == everything


@pytest.mark.parametrize("text", ["A", "Ax", "2c", "1h", "Qc"])
def test_cards_outside_the_deck_are_refused(text: str) -> None:
    with pytest.raises(RulesError, match="cards"):
        game("leduc").parse_cards(text)


@cases
def test_positions(name: str, positions: str) -> None:
    assert game(name).positions == tuple(positions.split())
