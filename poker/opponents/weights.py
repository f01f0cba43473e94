"""Weight tables [1326]: what an opponent may hold, re-weighted after each action [POKI] section 5.

A predictor says how often a player folds, calls or raises in a spot; `poker.opponents.responses` turns that into the
probability of the observed action given each hand. Thresholds are on the scale of all hands, as in [POKI], not of those
still possible, which on real hands narrows tables too fast, street by street.

A share `noise` of the actions says nothing about the cards; showdowns calibrate it for each player: an action that does
not fit the hand shown raises it. The prior lies between what mostly fits our own players best (0.05, of 0.05 and 0.2)
and what fits people best (0.3, of 0.15 and 0.3).
"""

_PRIOR_NOISE = 0.2
_PRIOR_ACTIONS = 40.0


BlindActions = tuple[float, float]
"""Actions of a player that shown hands explain: the expected number that did not depend on the cards, and all."""


def blind_share(seen: BlindActions) -> float:
    """Share of a player's actions that do not depend on the cards: their own, mixed with an unseen player's."""
    return (seen[0] + _PRIOR_NOISE * _PRIOR_ACTIONS) / (seen[1] + _PRIOR_ACTIONS)


def with_shown(seen: BlindActions, informed: float, uninformed: float) -> BlindActions:
    """Count an action of probability `informed` given the hand shown, `uninformed` without looking: one step of
    expectation maximisation."""
    noise = blind_share(seen)
    share = noise * uninformed
    total = share + (1 - noise) * informed
    return seen[0] + (share / total if total > 0 else 1.0), seen[1] + 1


class Calibration:
    """Share of actions that do not depend on the cards, for each player, from the hands shown at showdowns."""

    def __init__(self) -> None:
        self._seen: dict[str, BlindActions] = {}

    def noise(self, player: str) -> float:
        """Share of the player, or of an unseen one."""
        return blind_share(self._seen.get(player, (0.0, 0.0)))

    def shown(self, player: str, informed: float, uninformed: float) -> None:
        """Count an action of probability `informed` given the hand shown, `uninformed` without looking."""
        self._seen[player] = with_shown(self._seen.get(player, (0.0, 0.0)), informed, uninformed)

    def forget(self) -> None:
        self._seen.clear()
