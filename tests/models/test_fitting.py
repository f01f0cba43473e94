"""Charts that training leaves in TensorBoard."""

from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from models.logs import CourseLogger


def logged(folder: Path) -> dict[str, list[tuple[int, float]]]:
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    # files of one second are read in the order of their names, in which the tenth comes before the ninth
    return {tag: sorted((each.step, each.value) for each in events.Scalars(tag)) for tag in events.Tags()["scalars"]}


def test_the_loss_comes_first_and_no_chart_has_a_single_point(tmp_path: Path) -> None:
    logger = CourseLogger(tmp_path, "huber")
    logger.log_metrics({"validation/huber": 4.0, "train/huber/fold": 1.0, "epoch": 0.0}, 10)
    logger.log_metrics({"validation/huber": 2.0, "train/huber/fold": 1.5, "test/once": 1.0}, 20)
    logger.log_metrics({"validation/huber": 1.0}, 30)
    logger.finalize("success")
    wanted = {"loss/validation": [(10, 4.0), (20, 2.0), (30, 1.0)], "train/huber/fold": [(10, 1.0), (20, 1.5)]}
    assert logged(tmp_path) == wanted


def test_a_run_that_goes_on_adds_to_its_charts(tmp_path: Path) -> None:
    for step in (10, 30):
        logger = CourseLogger(tmp_path, "log_loss")
        logger.log_metrics({"validation/log_loss": step / 10, "lr-Adam": 0.5}, step)
        logger.log_metrics({"validation/log_loss": step / 10 + 1, "lr-Adam": 0.5}, step + 10)
        logger.finalize("success")
    found = logged(tmp_path)
    assert found["loss/validation"] == [(10, 1.0), (20, 2.0), (30, 3.0), (40, 4.0)]
    assert sorted(found) == ["loss/validation", "training/lr-Adam"]
