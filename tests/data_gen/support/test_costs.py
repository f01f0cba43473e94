"""Costs that jobs announce, against costs that they incur."""

import re
import resource
import time
from pathlib import Path

import pytest

from data_gen.support.costs import cost
from poker.run.parallel import LocalCluster
from tests.data_gen.commands import data_gen
from tests.data_gen.tiny import tiny_blueprint


def _sleep(number: int, count: int) -> None:
    time.sleep(0.02 * count)


@pytest.mark.slow
def test_the_clock_is_that_of_all_processes_at_once() -> None:
    """30,000 units of 20 ms are 300 s on two processes, beside their start; the largest task alone may take longer."""
    even = cost([(_sleep, 20_000.0), (_sleep, 10_000.0)], 8, LocalCluster(2))
    assert 297 < even.clock < 360
    assert even.cpu < 30
    held_up = cost([(_sleep, 30_000.0)], 8, LocalCluster(2), largest=0.9)
    assert 535 < held_up.clock < 600


@pytest.mark.slow
@pytest.mark.parametrize(
    "job",
    [
        ("job=leaf_table", "job.settings.boards=2000", "job.settings.form_boards=200"),
        ("job=leaf_states", "job.shards=6", "job.settings.preflop_share=1.0"),
        ("job=preflop_rollouts", "job.deals=1200000", "job.iteration_deals=30000"),
    ],
    ids=lambda job: job[0],
)
def test_a_job_takes_what_it_says(job: tuple[str, ...], tmp_path: Path) -> None:
    """Seconds of CPU, which other programs on the machine do not change; those of the trial are left out."""
    settings = (*job, *tiny_blueprint(tmp_path), "cluster.processes=2")
    before = _children()
    [announced] = re.findall(r"about ([\d,]+) s of CPU", data_gen(*settings, "--dry"))
    trial = _children() - before
    data_gen(*settings)
    taken = _children() - before - 2 * trial
    assert taken > 3
    assert taken / 1.5 < float(announced.replace(",", "")) < taken * 1.5


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
