"""`job=preflop_rollouts`: income rates of all preflop hands for 2 to 10 players, plain and iterated.

The rates are the income rates of [POKI]. There is a task for each number of players; an interrupted run starts from the
beginning.
"""

import sys
from dataclasses import asdict

from data_gen.support.progress import JobProgress
from poker.opponents.limit.preflop import KIND, MAX_PLAYERS, MIN_PLAYERS, IncomeRates, IncomeRow, RollOuts
from poker.run.parallel import Cluster, Given, Work, print_cost
from poker.store.artifacts import find_artifact

_DEAL_SECONDS = 4.5e-8
"""CPU seconds of a deal per player at the table, measured on one core of an Intel Xeon."""
_BYTES = 5 * 9 * 169 * 8


def run(
    *, deals: int, iterations: int, iteration_deals: int, seed: int, cluster: Cluster, output: str, runs: str
) -> None:
    """Write the income rates, unless an artifact with these settings exists.

    Args:
        deals: deals behind the plain rates.
        seed: seed of the deals.
        output: folder of the artifact.
        runs: folder of the logs.
    """
    rollouts = RollOuts(deals, iterations, iteration_deals, seed)
    config = asdict(rollouts)
    if find_artifact(output, KIND, config=config) is not None:
        print(f"preflop roll-outs {output} are there", file=sys.stderr)
        return
    largest_first = range(MAX_PLAYERS, MIN_PLAYERS - 1, -1)
    seconds = _DEAL_SECONDS * sum(largest_first) * (deals + iterations * iteration_deals)
    print_cost(f"preflop roll-outs {output}", seconds, len(largest_first), cluster, _BYTES / 1e6)
    rows: list[IncomeRow] = []
    with JobProgress("preflop roll-outs", total=sum(largest_first), logs=runs) as progress:
        for row in cluster.run(Work(Given(rollouts.of)), largest_first):
            rows.append(row)
            done = sum(finished.players for finished in rows)
            progress.update(done, step=row.players, change_of_entering=row.changes[-1] if row.changes else 0.0)
    rates = IncomeRates.of(rows)
    rates.save(output, config)
    print(
        f"preflop roll-outs {output}: largest standard error {rates.plain_error.max():.4f} plain, "
        f"{rates.iterated_error.max():.4f} iterated, in bets",
        file=sys.stderr,
    )
