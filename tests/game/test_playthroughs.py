"""Text playthroughs: one file for each game, its definition and a few hands with every decision and its bounds.

`make golden` writes them anew; the difference in git is what a change of behaviour has to justify.
"""

import random
from pathlib import Path

import numpy as np
import pytest

from poker.game.rules import Rules
from poker.game.state import HandState
from tests.games import load_rules
from tests.random_play import GAMES, random_action

FOLDER = Path(__file__).parents[1] / "golden" / "games"
HANDS = 4


def playthrough(name: str) -> str:
    rules = load_rules(name)
    lines = [rules.to_acpc()]
    rng, cards = random.Random(name), np.random.default_rng(2002)
    for number in range(HANDS):
        lines += _hand(rules, number, HandState.deal(rules, cards), rng)
    return "\n".join(lines)


def _hand(rules: Rules, number: int, state: HandState, rng: random.Random) -> list[str]:
    lines = [f"hand {number}: {' | '.join(rules.cards_text(cards) for cards in state.hole_cards)}"]
    street = -1
    while not state.is_over:
        if state.street != street:
            street = state.street
            pots = ", ".join(f"{pot.amount} for {''.join(map(str, pot.players))}" for pot in state.pots())
            lines.append(f"  street {street} [{rules.cards_text(state.board)}] committed {_chips(state)}")
            lines += [f"    pots: {pots}"] if street else []
        legal = state.legal()
        action = random_action(legal, rng)
        lines.append(f"    player {state.to_act}: {legal} -> {state.betting.action_text(action)}")
        state = state.apply(action)
    end = f"showdown [{rules.cards_text(state.board)}]" if state.betting.is_showdown else "everybody else folded"
    lines.append(f"  {end} after {state.betting.text()} committed {_chips(state)}")
    return [*lines, f"  payoffs {' '.join(f'{chips:+d}' for chips in state.payoffs())}", ""]


def _chips(state: HandState) -> str:
    return " ".join(map(str, state.betting.committed))


@pytest.mark.parametrize("name", GAMES)
def test_playthrough_is_unchanged(name: str) -> None:
    assert playthrough(name) == (FOLDER / f"{name}.txt").read_text(), "`make golden`, and explain the difference"


def test_no_playthrough_without_a_game() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == GAMES


if __name__ == "__main__":
    for game in GAMES:
        (FOLDER / f"{game}.txt").write_text(playthrough(game))
