"""Weight tables [1326]: what an opponent may hold, re-weighted after each action [POKI] section 5.

A predictor says how often a player folds, calls or raises in a spot; `poker.opponents.responses` makes of it the
probability of the observed action given each hand. Thresholds are on the scale of all hands, as in [POKI], and not of
those that are still possible: on real hands the latter narrows tables too fast, street by street.

A share `noise` of the actions says nothing about the cards; showdowns calibrate it for each player: an action that does
not fit the hand shown raises it. The prior lies between what mostly fits our own players best (0.05 of 0.05 and 0.2)
and what fits people best (0.3 of 0.15 and 0.3).
"""

_PRIOR_NOISE = 0.2
_PRIOR_ACTIONS = 40.0


class Calibration:
    """Share of actions that do not depend on the cards, for each player, from the hands shown at showdowns.

    Each shown hand tells, for each action of that player, how likely the action was with the hand and without looking
    at it; the expected number of the latter kind is counted (one step of expectation maximisation for each showdown).
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, float]] = {}

    def noise(self, player: str) -> float:
        """Between the prior, for a stranger, and the player's own share."""
        blind, actions = self._seen.get(player, (0.0, 0.0))
        return (blind + _PRIOR_NOISE * _PRIOR_ACTIONS) / (actions + _PRIOR_ACTIONS)

    def shown(self, player: str, informed: float, uninformed: float) -> None:
        """An action had probability `informed` given the hand shown, `uninformed` without looking."""
        noise = self.noise(player)
        share = noise * uninformed
        total = share + (1 - noise) * informed
        blind, actions = self._seen.get(player, (0.0, 0.0))
        self._seen[player] = blind + (share / total if total > 0 else 1.0), actions + 1

    def forget(self) -> None:
        self._seen.clear()
