"""Progress on terminals and in logs."""

import io
import re

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


def test_log_gets_lines_during_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Now and then, and at the end."""
    out = io.StringIO()
    with progress_bars("hands", Console(file=out)) as bars:
        first = bars.add_task("a line-up", total=2000, found="")
        bars.update(first, completed=500)
        bars.advance(first, 100)
        monkeypatch.setattr(progress, "_SECONDS", 0.0)
        bars.update(first, completed=1000, found="+12 ± 3 mbb/hand")
        assert re.findall("[0-9]+/2000 hands", out.getvalue()) == ["1000/2000 hands"]
        assert "+12 ± 3 mbb/hand" in out.getvalue()
        monkeypatch.undo()
        bars.update(first, completed=2000)
    assert re.findall("[0-9]+/2000 hands", out.getvalue())[1:] == ["2000/2000 hands"]
