"""An agent that plays charts before the flop: hands that call, raise or go all-in in each spot.

Charts are text. A line that begins at the margin names a spot as a regular expression, such as
`(UTG|HJ)/raise/BTN/call/BB`. It has the players who called, raised or went all-in, without folds, and ends with the
player to act. The first matching spot counts.

The indented lines below it are actions with their hands (`poker.formats.ranges`): `call`, `allin`, or a raise in big
blinds such as `6.5bb`. Each action takes its weight of the hands that the actions above it leave. The remaining hands
fold, or check where that is free, as hands of `call` do there. `#` begins a comment.
"""

import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from poker.agents.blueprint import BlueprintAgent
from poker.formats.pokerbench import amount_of, chips
from poker.formats.ranges import Weights, parse_range
from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState, Policy
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import Blueprint

SIX_MAX = Path(__file__).with_name("six_max.txt")
"""Hand-made charts for six players and 100 big blinds, with opening raises of 2 to 3 big blinds by seat."""

Chart = dict[str, Weights]
"""Weights [H] of hands by action: the share of the hands left by earlier actions that take it."""


class ChartAgent(BlueprintAgent):
    """An agent that plays charts before the flop, and the blueprint after the flop and in spots without a chart.

    Attributes:
        charts: text of the charts.
    """

    quick_policy = ""

    def __init__(self, *, name: str, blueprint: Blueprint, translation_seed: int | None, charts: str | None) -> None:
        """Read the charts.

        Args:
            translation_seed: see `BlueprintAgent`.
            charts: file of the charts; None for `SIX_MAX`.

        Raises:
            PokernetsError: the file cannot be read.
        """
        super().__init__(name=name, blueprint=blueprint, translation_seed=translation_seed)
        path = Path(charts or SIX_MAX)
        try:
            self.charts = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PokernetsError(f"the charts of `{name}`: {error}") from None
        self._spots = read_charts(self.charts, str(path))

    def policy(self, state: HandState) -> Policy:
        """Return the strategy of the player to act.

        Args:
            state: a public state.

        Returns:
            Legal actions and probabilities float32 [H, A].
        """
        chart = None if state.betting.street else self._chart(spot_text(state.betting))
        return super().policy(state) if chart is None else _policy(chart, state.betting)

    def _chart(self, spot: str) -> Chart | None:
        return next((chart for pattern, chart in self._spots if pattern.fullmatch(spot)), None)


def spot_text(betting: Betting) -> str:
    """Return the name of a spot before the flop, as in charts."""
    names, words = betting.rules.positions, []
    for _, player, action in betting.turns():
        if action != FOLD:
            raised = "allin" if action == betting.rules.stacks[player] else "raise"
            words += [names[player], raised if action > 0 else "call"]
    return "/".join([*words, names[betting.to_act]])


@lru_cache(maxsize=4)
def read_charts(text: str, path: str) -> list[tuple[re.Pattern[str], Chart]]:
    """Read charts.

    Args:
        text: the charts.
        path: name of their file, for errors.

    Returns:
        Pattern and chart of each spot.

    Raises:
        PokernetsError: a line cannot be read; the message names it.
    """
    spots: list[tuple[re.Pattern[str], Chart]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].rstrip()
        try:
            if words and not words[0].isspace():
                spots.append((re.compile(words), {}))
            elif words:
                action, _, hands = words.strip().partition(" ")
                if not spots or amount_of(action) == FOLD:
                    raise PokernetsError("expected a line with a spot before its hands; folds are the remaining hands")
                if action in spots[-1][1]:
                    raise PokernetsError(f"`{action}` occurs twice in this spot: write its hands in one line")
                spots[-1][1][action] = parse_range(hands)
        except (PokernetsError, re.error) as error:
            raise PokernetsError(f"{path}, line {number}: {error}") from None
    return spots


def _policy(chart: Chart, betting: Betting) -> Policy:
    """Return legal actions without repeats, and probabilities [H, A]."""
    rest = np.ones(betting.rules.num_hands, np.float32)
    remaining = FOLD if betting.legal().fold else CALL
    by_action = {remaining: np.zeros_like(rest)}
    for word, weights in chart.items():
        action = chips(betting, amount_of(word))
        by_action[action] = by_action.get(action, 0) + rest * weights
        rest = rest * (1 - weights)
    by_action[remaining] = by_action[remaining] + rest
    return tuple(by_action), np.stack(list(by_action.values()), axis=1)
