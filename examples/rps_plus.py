"""[DLS] section 2 as a program that shows why a leaf needs more than one value.

Run `python examples/rps_plus.py`. RPS+ is rock-paper-scissors in which a win counts double if either player
shows scissors. Player 1 moves without revealing the move, and the depth limit comes before player 2's move.

With one value per leaf, the equilibrium's, every move of player 1 seems worth 0. So nothing distinguishes the
equilibrium (0.4, 0.4, 0.2) from any other strategy. If player 2 may choose among three continuations at the limit
(always rock, always paper, always scissors), player 1 has to guard against all of them.
"""

import numpy as np

from poker.kernels.types import Floats

MOVES = ("rock", "paper", "scissors")
PAYOFF: Floats = np.array([[0, -1, 2], [1, 0, -2], [-2, 2, 0]], np.float64)
"""[3, 3] chips of player 1, by the moves of players 1 and 2."""
EQUILIBRIUM: Floats = np.array([0.4, 0.4, 0.2])
CONTINUATIONS: Floats = np.eye(3)
"""[3, 3] three policies of player 2 for the rest of the game."""


def depth_limited(continuations: Floats, iterations: int = 20_000) -> Floats:
    """Solve the depth-limited game with CFR+.

    Args:
        continuations: [K, 3] policies of player 2 at the depth limit.

    Returns:
        [3] average strategy of player 1.
    """
    values = PAYOFF @ continuations.T
    regrets, average = [np.zeros(3), np.zeros(len(continuations))], np.zeros(3)
    for t in range(1, iterations + 1):
        moves, choice = (_matching(regret) for regret in regrets)
        gains = values @ choice
        regrets[0] = np.maximum(regrets[0] + gains - moves @ gains, 0)
        moves = _matching(regrets[0])
        losses = -(moves @ values)
        regrets[1] = np.maximum(regrets[1] + losses - choice @ losses, 0)
        average += t * moves
    return np.asarray(average / average.sum())


def exploitability(strategy: Floats) -> float:
    """Return the chips that a best response of player 2 wins.

    Args:
        strategy: [3] strategy of player 1.
    """
    return float(-(strategy @ PAYOFF).min())


def _matching(regrets: Floats) -> Floats:
    total = regrets.sum()
    return regrets / total if total > 0 else np.full(len(regrets), 1.0 / len(regrets))


def main() -> None:
    """Print the solutions with one value per leaf and with three continuations."""
    for name, continuations in (("one value", EQUILIBRIUM[None]), ("three continuations", CONTINUATIONS)):
        strategy = depth_limited(continuations)
        moves = ", ".join(f"{move} {share:.4f}" for move, share in zip(MOVES, strategy, strict=True))
        print(f"{name}: {moves}; a best response wins {exploitability(strategy):.4f}")


if __name__ == "__main__":
    main()
