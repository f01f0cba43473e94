"""Units of work that processes of a match are given at a time."""

from poker.play.lineup import LineUp, Task
from poker.play.workers import _units


def tasks(sessions: int) -> list[Task]:
    pairs = [LineUp((name, "caller")) for name in ("first", "second", "third")]
    return [(pair, session) for session in range(sessions) for pair in pairs]


def test_all_line_ups_of_a_session_go_together_unless_that_takes_long() -> None:
    short = _units(tasks(8), 2, seconds=1.0)
    assert [len(unit) for unit in short] == [3] * 8
    assert all(len({session for _, session in unit}) == 1 for unit in short)
    assert _units(tasks(8), 2, seconds=60.0) == [[task] for task in tasks(8)]
    assert _units(tasks(7), 2, seconds=1.0) == [[task] for task in tasks(7)], "some processes would be idle"
    assert _units([], 2, seconds=0.0) == []
