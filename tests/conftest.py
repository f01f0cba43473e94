"""`pytest --device=cuda`: agents whose settings name no device solve their rounds there.

pytest -n 2 --device=cuda tests/search tests/agents tests/play tests/evaluation tests/models/test_trained.py

Without a GPU its kernels run in Triton's interpreter, which has to be asked for before Triton is imported.
"""

import os
import shutil
from collections import Counter, defaultdict
from typing import Any

import pytest

if shutil.which("nvidia-smi") is None:
    os.environ.setdefault("TRITON_INTERPRET", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--device", default="cpu", help="where agents solve rounds: cpu or cuda")


def pytest_configure(config: pytest.Config) -> None:
    device = config.getoption("--device")
    if device != "cpu":
        from poker.solve.types import SolverSettings  # noqa: PLC0415 (takes seconds to import)

        *others, _ = SolverSettings.__init__.__defaults__ or ()
        SolverSettings.__init__.__defaults__ = (*others, device)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files come first, so that processes which take file after file end together.

    Those are files with slow tests, or with tests for a GPU, which Triton interprets here; then files of many tests.
    """
    long = {item.path for item in items for mark in ("slow", "gpu") if item.get_closest_marker(mark)}
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path not in long, -tests[item.path]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the ten files whose tests and fixtures took longest."""
    seconds: dict[str, float] = defaultdict(float)
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if isinstance(report, pytest.TestReport):
            seconds[report.location[0]] += report.duration
    for file, duration in sorted(seconds.items(), key=lambda item: -item[1])[:10] if len(seconds) > 10 else ():
        terminalreporter.write_line(f"{duration:7.1f} s {file}")


@pytest.fixture
def device(request: pytest.FixtureRequest) -> str:
    """The device of the option; tests that always run on several devices are parametrised instead."""
    return str(request.config.getoption("--device"))


@pytest.fixture(scope="session")
def rules() -> Any:
    """Heads-up no-limit hold'em, where a file has no fixture of its own."""
    from tests.games import HEADS_UP  # noqa: PLC0415 (imports Hydra)

    return HEADS_UP
