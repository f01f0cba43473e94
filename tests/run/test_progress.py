"""Progress on terminals and in logs."""

import io
import time
from collections.abc import Callable

import pytest

from poker.run import progress
from poker.run.progress import Console, progress_bars


def test_nothing_of_a_bar_is_cut_on_a_narrow_terminal() -> None:
    out = io.StringIO()
    title, metrics = (
        "poki_net vs poki_generic vs poki_adaptive",
        "iterations/s 519.1k  mean regret bb 0.002342  nash conv 0.12",
    )
    with progress_bars("hands", Console(file=out, width=80, force_terminal=True, color_system=None)) as bars:
        bars.add_task(title, total=1_000_000, completed=500_000, found=metrics)
    assert "500000/1000000 hands" in out.getvalue()
    assert metrics in out.getvalue()
    assert all(word in out.getvalue() for word in title.split())


@pytest.mark.parametrize("is_terminal", [True, False])
def test_brackets_in_bars_are_no_markup(is_terminal: bool) -> None:
    out = io.StringIO()
    with progress_bars("hands", Console(file=out, width=200, force_terminal=is_terminal, color_system=None)) as bars:
        bars.add_task("[hero] against [b]", total=1, found="[red] 3")
    assert "[hero] against [b]" in out.getvalue()
    assert "[red] 3" in out.getvalue()


def test_a_log_gets_lines_while_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first soon, later ones rarer; where nothing moves, what is waited for; nothing twice at the end."""
    monkeypatch.setattr(progress, "_FIRST", 0.02)
    monkeypatch.setattr(progress, "_SECONDS", 0.05)
    out = io.StringIO()

    def wait(wanted: Callable[[list[str]], bool]) -> None:
        deadline = time.monotonic() + 20
        while not wanted(out.getvalue().splitlines()):
            assert time.monotonic() < deadline, out.getvalue()
            time.sleep(0.005)

    with progress_bars("hands", Console(file=out, width=40)) as bars:
        first = bars.add_task("one line-up with a long name", total=2000, found="")
        bars.add_task("another", total=10, found="")
        bars.update(first, completed=500)
        time.sleep(0.01)
        bars.update(first, completed=1000, found="+12 ± 3 mbb/hand")
        wait(lambda lines: any("+12 ± 3 mbb/hand" in line and "left" in line for line in lines))
        wait(lambda lines: sum("1,000/2,000 hands, 50%" in line for line in lines) > 1)
        bars.update(first, completed=2000)
    lines = out.getvalue().splitlines()
    assert all(line.startswith(("one line-up with a long name: ", "another: 0/10 hands")) for line in lines)
    assert sum("2,000/2,000 hands, 100%" in line for line in lines) == 1
