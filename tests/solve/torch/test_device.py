"""The memory of a device, told and kept to; nothing asks CUDA for anything unless a device is named."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from models.leaf.data import DeviceColumns, LeafColumns
from poker.run.errors import PokernetsError
from poker.solve.torch import device as devices
from poker.solve.torch.device import free_bytes, ran_out, room, torch_device
from tests.models.shards import write_leaf_states

ROOT = Path(__file__).parents[3]
GIB = 1 << 30

WITHOUT_CUDA = """
import importlib, pkgutil, sys
import numpy as np, torch, lightning
def refused(*_, **__): raise AssertionError("CUDA was asked for something")
torch.cuda._lazy_init = torch.cuda.init = torch.cuda.set_device = torch.cuda.mem_get_info = refused
asked = []
torch.cuda.is_available = lambda: asked.append(1)
for package in ("poker.search", "poker.solve", "models"):
    for module in pkgutil.iter_modules([package.replace(".", "/")], package + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
assert not asked
from models.leaf.runner import LeafRunner
from models.training.mlp import Mlp
from poker.solve.solver import DepthLimitedSolver, SolverSettings
from tests.solve.torch.test_batches import MENU, request
asked.clear()
for device in ("cpu", "torch"):
    LeafRunner(Mlp(34, [8], 4), device=device).values(np.zeros((3, 34), np.float32))
    DepthLimitedSolver(MENU, MENU, {}, SolverSettings("apdcfr", (2,), 1, device=device))(request(3, 1))
print(asked, torch.cuda.is_initialized())
"""


def test_imports_and_the_cpu_never_query_cuda() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_CUDA], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "[] False\n", done.stderr


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> torch.device:
    """A CUDA device with 9 GiB free, and 1 more GiB that torch keeps."""
    sizes = {
        "is_available": True,
        "mem_get_info": (9 * GIB, 80 * GIB),
        "memory_reserved": 3 * GIB,
        "memory_allocated": 2 * GIB,
        "get_device_name": "Card",
    }
    for name, answer in sizes.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, answer=answer: answer)
    devices._tell.cache_clear()
    return torch.device("cuda")


def test_memory_plan_is_printed_once(card: torch.device, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("cuda", "cuda"):
        assert torch_device(name) == card
    assert capsys.readouterr().err == "cuda (Card): 10.0 GiB free, batches take up to 8.0 GiB\n"
    assert (free_bytes(card), room(card)) == (10 * GIB, 8 * GIB)
    assert torch_device("torch").type == torch_device("cpu").type == "cpu"
    assert capsys.readouterr().err == ""


def test_rows_that_do_not_fit_are_refused(card: torch.device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_leaf_states(tmp_path, rows=100)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (-1 * GIB, 80 * GIB))
    with pytest.raises(PokernetsError, match=r"cuda has room for 0\.0 GiB; use data\.on_device=false"):
        DeviceColumns(LeafColumns(str(tmp_path)), card)


def test_out_of_memory_is_recognised_by_its_error(capsys: pytest.CaptureFixture[str]) -> None:
    device = torch.device("cuda")
    captured = RuntimeError("capture failed")
    captured.__context__ = torch.OutOfMemoryError()
    assert ran_out(device, captured)
    assert "cuda ran out of memory; later batches are smaller" in capsys.readouterr().err
    assert ran_out(device, torch.OutOfMemoryError(), verbose=False)
    assert not ran_out(device, RuntimeError("another"))
    assert capsys.readouterr().err == ""
