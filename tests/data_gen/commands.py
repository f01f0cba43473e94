"""Runs `python -m data_gen` as a user does, but in this process, on a tiny blueprint, and kills it like a power cut."""

import hashlib
from pathlib import Path

import numpy as np

from poker.abstraction.buckets import make_abstraction
from poker.game.cards import NUM_HANDS, PREFLOP_CLASS
from tests.commands import places, run_here
from tests.killed import run_killed


def data_gen(*arguments: object) -> str:
    """Run `python -m data_gen`, which must succeed, and return its stderr."""
    done = run_here("data_gen", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stderr


def data_gen_fails(*arguments: object) -> str:
    """The message of a run that ends with status 2 and one line."""
    done = run_here("data_gen", *arguments)
    assert done.returncode == 2, done.stderr
    return done.stderr.strip().splitlines()[-1]


def data_gen_killed(method: str, *arguments: object) -> None:
    """A run that is killed when `method` has returned for the first time; see `tests.killed`."""
    run_killed(method, 1, "-m", "data_gen", *map(str, arguments))


def digests(folder: Path, pattern: str = "**/*") -> dict[str, str]:
    """SHA-256 by relative path of the files in `folder`; temporary names are left out."""
    files = [file for file in sorted(folder.glob(pattern)) if file.is_file()]
    names = {str(file.relative_to(folder)): file for file in files}
    visible = {name: file for name, file in names.items() if not any(part.startswith(".") for part in Path(name).parts)}
    return {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in visible.items()}


FLOP_BUCKETS = 3


def tiny_blueprint(folder: Path) -> tuple[str, ...]:
    """Makes abstraction and blueprint under `folder`; returns the overrides that every further job needs."""
    rng = np.random.default_rng(0)
    flops = rng.integers(0, FLOP_BUCKETS, (1755, NUM_HANDS)).astype(np.uint8)
    tables = (PREFLOP_CLASS[None] % 8, flops)
    make_abstraction(tables, (8, FLOP_BUCKETS)).save(folder / "abstraction", {"test": True})
    menu = ("bets.preflop=[[1],[a]]", "bets.flop=[[1,a],[a]]")
    common = ("game=flop_holdem_nolimit", *menu, *places(folder))
    data_gen("job=blueprint", "job.iterations=2000", *common)
    return common
