"""`job=preflop_rollouts`: income rates of all preflop hands for 2 to 10 players, plain and iterated.

A task for each number of players; a run that was interrupted starts anew.
"""

import sys
from dataclasses import asdict, replace
from functools import partial

from data_gen.support.costs import cost, print_cost
from data_gen.support.progress import JobProgress
from poker.opponents.limit.preflop import KIND, MAX_PLAYERS, MIN_PLAYERS, IncomeRates, IncomeRow, RollOuts
from poker.run.parallel import Cluster, Given, Work
from poker.store.artifacts import find_artifact

_UNITS = 1000
"""Units that the deals are divided into for trials."""
_BYTES = 5 * 9 * 169 * 8


def run(
    *, deals: int, iterations: int, iteration_deals: int, seed: int, cluster: Cluster, dry: bool, output: str, runs: str
) -> None:
    """Write the rates to `output`, unless they are there with these settings."""
    rollouts = RollOuts(deals, iterations, iteration_deals, seed)
    config = asdict(rollouts)
    if find_artifact(output, KIND, config=config) is not None:
        print(f"preflop roll-outs {output} are there", file=sys.stderr)
        return
    largest_first = range(MAX_PLAYERS, MIN_PLAYERS - 1, -1)
    needed = cost(
        [(partial(_trial, rollouts), _UNITS)], len(largest_first), cluster, largest=MAX_PLAYERS / sum(largest_first)
    )
    print_cost(f"preflop roll-outs {output}", needed, len(largest_first), cluster, _BYTES / 1e6)
    if dry:
        return
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


def _trial(rollouts: RollOuts, number: int, units: int) -> None:
    """Roll out `units` thousandths of the deals, for all numbers of players."""
    deals, iteration_deals = (-(-count * units // _UNITS) for count in (rollouts.deals, rollouts.iteration_deals))
    part = replace(rollouts, deals=deals, iteration_deals=iteration_deals, seed=rollouts.seed + number)
    for players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
        part.of(players)
