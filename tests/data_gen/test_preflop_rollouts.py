import re
from pathlib import Path

from tests.data_gen.commands import data_gen, data_gen_fails, digests
from tests.run.test_lock import held

SMALL = ("job=preflop_rollouts", "job.deals=2000", "job.iterations=2", "job.iteration_deals=1000")


def test_the_same_bytes_with_any_number_of_processes(tmp_path: Path) -> None:
    outputs = [tmp_path / f"{processes} processes" for processes in (1, 2)]
    logs = f"job.runs={tmp_path / 'runs'}"
    for processes, output in enumerate(outputs, 1):
        said = data_gen(*SMALL, logs, f"job.output={output}", f"cluster.processes={processes}")
        assert re.search(rf"about 0 s of CPU, 0 s on {processes} processes of .* MB on disk\n", said)
        assert "largest standard error" in said
    assert digests(outputs[0]) == digests(outputs[1])
    assert "are there" in data_gen(*SMALL, logs, f"job.output={outputs[0]}")


def test_what_another_command_makes_is_left_to_it(tmp_path: Path) -> None:
    """The place is recognised whatever a command's `runs` and however the place is spelt."""
    made = tmp_path / "made"
    (tmp_path / "link").symlink_to(tmp_path)
    with held(tmp_path, "made"):
        for number, spelt in enumerate((made, tmp_path / "link" / "made", tmp_path / "x" / ".." / "made")):
            job = (*SMALL, f"runs={tmp_path / f'runs{number}'}", f"job.output={spelt}")
            assert "another command makes" in data_gen_fails(*job)
    assert not made.exists()
