"""A torch device by its name, and the one plan for its memory.

What stays there (nets, rows to train on) goes first. All else comes in batches (solves, rows of nets), one at a time,
each cut to a share of what is free when it begins, and halved where that was too much. The plan is told once a
process, when a device is first named.
"""

import sys
from functools import cache

import torch

from poker.run.errors import PokernetsError
from poker.solvers.vector.game import DEFAULT_MEMORY_LIMIT

_OF_FREE = 0.8
"""Share of free memory that a batch may take: the rest is for what libraries keep and for gaps."""


def check_device(name: str) -> torch.device:
    """Device for a name of `search.solver.device`: torch is the CPU. Raises PokernetsError for a name
    without a meaning and for a CUDA device that is not there."""
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise PokernetsError(f"device `{name}` was asked for and torch finds no CUDA device; use device=cpu")
    try:
        return torch.device("cpu" if name == "torch" else name)
    except RuntimeError:
        raise PokernetsError(f"device `{name}`: choose cpu, cuda (or cuda:1 and so on) or torch") from None


def torch_device(name: str) -> torch.device:
    """The device of `check_device`, ready for use."""
    device = check_device(name)
    if device.type == "cuda":
        if device.index is not None:
            torch.cuda.set_device(device)  # for streams and graphs, which have no device of their own
        _tell(device)
    return device


@cache
def _tell(device: torch.device) -> None:
    free, batch = (bytes_ / 2**30 for bytes_ in (free_bytes(device), room(device)))
    name = torch.cuda.get_device_name(device)
    print(f"{device} ({name}): {free:.1f} GiB free, batches take up to {batch:.1f} GiB", file=sys.stderr)


def free_bytes(device: torch.device) -> int:
    """Free memory of a device in bytes; for the CPU what a game is given by default."""
    if device.type != "cuda":
        return DEFAULT_MEMORY_LIMIT
    free = torch.cuda.mem_get_info(device)[0]
    return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


def room(device: torch.device) -> int:
    """Bytes that a batch may plan to take."""
    return int(_OF_FREE * free_bytes(device))


def ran_out(device: torch.device, error: BaseException | None, verbose: bool = True) -> bool:
    """Whether memory ran out, which is printed if `verbose`: smaller batches come next. An error while a graph is
    captured has the memory error as its context."""
    if error is None:
        return False
    if not isinstance(error, torch.OutOfMemoryError):
        return ran_out(device, error.__context__, verbose)
    if verbose:
        print(f"{device} ran out of memory; batches are smaller from now on", file=sys.stderr)
    return True
