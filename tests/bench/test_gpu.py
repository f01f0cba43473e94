"""The benchmark of a GPU runs through, at sizes for which none is needed."""

import json
import sys
from pathlib import Path

import pytest

from tests.devices import CUDA, INTERPRETER

pytest.importorskip("triton", reason="the gpu extra, which `make test` installs")


@pytest.mark.slow
@pytest.mark.parametrize("device", ["torch", CUDA] if INTERPRETER else [CUDA])
def test_every_part_is_measured(device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.bench.gpu import PARTS, main  # noqa: PLC0415 (imports triton)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("poker.solve.torch.vector.FEWEST_BETWEEN", 2)
    out = tmp_path / "gpu.json"
    parts = [part for part in PARTS if device != "torch" or part != "tables"]  # turns take the interpreter minutes
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--device", device, "--tiny", "--out", str(out), *parts])
    monkeypatch.setattr(sys, "orig_argv", ["python", *sys.argv])
    status = main()
    record = json.loads(out.read_text())
    assert f"--device {device} --tiny --out gpu.json" in record["command"]
    assert record["failed"] == {}
    assert status == 0
    assert list(record["seconds"]) == parts
    assert all(row["value"] > 0 for row in record["rows"])
    assert all(row.get("reached", True) and not row.get("incidents") for row in record["rows"])
    assert record["tiny"]
    assert record["device"]
