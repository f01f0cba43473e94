"""Torch devices by name, and the plan for their memory.

Permanent data (nets, training rows) are loaded first. All other work comes in batches (solves, rows of nets), one at a
time. Each batch is cut to a share of the memory that is free when it begins, and halved if it was too large. The plan
is printed once per process, when a device is first used.
"""

import sys
from functools import cache

import torch

from poker.run.errors import PokernetsError
from poker.solvers.vector.game import DEFAULT_MEMORY_LIMIT

_OF_FREE = 0.8
"""Share of free memory that a batch may take; the rest is for libraries' own memory and fragmentation."""


def check_device(name: str) -> torch.device:
    """Return the device for a name of `search.solver.device`; `torch` is the CPU.

    Raises:
        PokernetsError: the name is invalid, or there is no such CUDA device.
    """
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise PokernetsError(f"device `{name}` is set, but torch finds no CUDA device; use device=cpu")
    try:
        return torch.device("cpu" if name == "torch" else name)
    except RuntimeError:
        raise PokernetsError(f"device `{name}`: choose cpu, cuda (or cuda:1 and so on) or torch") from None


def torch_device(name: str) -> torch.device:
    """Return the device for a name, ready for use.

    Raises:
        PokernetsError: the name is invalid, or there is no such CUDA device.
    """
    device = check_device(name)
    if device.type == "cuda":
        if device.index is not None:
            torch.cuda.set_device(device)  # streams and graphs use the current device
        _tell(device)
    return device


@cache
def _tell(device: torch.device) -> None:
    free, batch = (bytes_ / 2**30 for bytes_ in (free_bytes(device), room(device)))
    name = torch.cuda.get_device_name(device)
    print(f"{device} ({name}): {free:.1f} GiB free, batches take up to {batch:.1f} GiB", file=sys.stderr)


def free_bytes(device: torch.device) -> int:
    """Return the free memory of a device in bytes; for the CPU the default limit of a game."""
    if device.type != "cuda":
        return DEFAULT_MEMORY_LIMIT
    free = torch.cuda.mem_get_info(device)[0]
    return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


def room(device: torch.device) -> int:
    """Return the bytes that a batch may plan to use."""
    return int(_OF_FREE * free_bytes(device))


def ran_out(device: torch.device, error: BaseException | None, verbose: bool = True) -> bool:
    """Return whether an error means that memory ran out.

    Args:
        error: the error. An error during the capture of a graph has the memory error as its context.
        verbose: whether to print that smaller batches follow.
    """
    if error is None:
        return False
    if not isinstance(error, torch.OutOfMemoryError):
        return ran_out(device, error.__context__, verbose)
    if verbose:
        print(f"{device} ran out of memory; later batches are smaller", file=sys.stderr)
    return True
