"""`job=preflop_rollouts`: income rates of all preflop hands for 2 to 10 players, plain and iterated.

Seconds at the small scale; a run that was interrupted starts anew.
"""

import sys

from data_gen.progress import JobProgress
from poker.artifacts import find_artifact
from poker.kernels.rng import streams
from poker.opponents.preflop import KIND, MAX_PLAYERS, MIN_PLAYERS, RollOuts


def run(*, deals: int, iterations: int, iteration_deals: int, seed: int, output: str, runs: str) -> None:
    """Write the rates to `output`, unless they are there with these settings."""
    config = {"deals": deals, "iterations": iterations, "iteration_deals": iteration_deals, "seed": seed}
    if find_artifact(output, KIND, config=config) is not None:
        print(f"preflop roll-outs {output} are there", file=sys.stderr)
        return
    rollouts = RollOuts(deals=deals, iterations=iterations, iteration_deals=iteration_deals, rng=streams(seed, 1)[0])
    total = (MAX_PLAYERS - MIN_PLAYERS + 1) * iterations
    with JobProgress("preflop roll-outs", total=total, logs=runs) as shown:
        for done, (players, change) in enumerate(rollouts.run(), 1):
            shown.update(done, step=done, players=players, change_of_entering=change)
    rates = rollouts.rates
    rates.save(output, config)
    print(
        f"preflop roll-outs {output}: largest standard error {rates.plain_error.max():.4f} plain, "
        f"{rates.iterated_error.max():.4f} iterated, in bets",
        file=sys.stderr,
    )
