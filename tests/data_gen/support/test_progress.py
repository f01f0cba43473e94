from pathlib import Path

import pytest

from data_gen.support.progress import JobProgress
from tests.report.test_scalars import read_scalars


def test_job_reports_its_progress_to_a_log_and_tensorboard(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """TensorBoard shows the strength of the result first."""
    with JobProgress("blueprint", total=20, logs=tmp_path) as progress:
        for done in (10, 20):
            progress.update(done, step=done, iterations_per_second=2e4, nash_conv=5 / done)
    bar, found = capfd.readouterr().err.splitlines()
    assert bar.startswith("blueprint ")
    assert " 20/20 " in bar
    assert found == "  iterations/s 20.0k  nash conv 0.25"
    [folder] = tmp_path.iterdir()
    scalars = read_scalars(folder)
    assert scalars["strength/nash_conv"] == [(10, 0.5), (20, 0.25)]
    assert sorted(scalars) == ["strength/nash_conv", "work/iterations_per_second"]
