"""Figures of a validation pass, gathered batch by batch, against numpy on all rows at once."""

import numpy as np
import pytest
import torch

from models.figures import scatter
from models.leaf_module import figures_of
from models.losses import HuberLoss
from models.regression import SCATTER_ROWS, RegressionSums
from poker.features.leaf import CONTINUATIONS

ROWS = 3000


@pytest.fixture(scope="module")
def columns() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(2)
    labels = generator.normal(scale=2, size=(ROWS, 4))
    return {
        "labels": labels,
        "predicted": labels + generator.normal(scale=[0.1, 0.5, 1, 2], size=(ROWS, 4)),
        "sem": generator.random((ROWS, 4)),
        "street": generator.integers(0, 2, ROWS),
    }


def huber(error: np.ndarray, delta: float) -> np.ndarray:
    size = np.abs(error)
    loss: np.ndarray = np.where(size < delta, size**2 / 2, delta * (size - delta / 2))
    return loss


def test_figures_are_those_of_all_rows_at_once(columns: dict[str, np.ndarray]) -> None:
    mean = columns["labels"].mean(axis=0)
    sums = RegressionSums(HuberLoss(0.7), torch.from_numpy(mean), ROWS)
    for at in range(0, ROWS, 700):
        part = {name: torch.from_numpy(column[at : at + 700]) for name, column in columns.items()}
        sums.add(part["predicted"], part["labels"], part["sem"], part["street"])
    found = figures_of(sums)

    error = columns["predicted"] - columns["labels"]
    assert found["huber"] == pytest.approx(huber(error, 0.7).mean())
    assert found["huber_of_mean"] == pytest.approx(huber(columns["labels"] - mean, 0.7).mean())
    assert found["label_noise"] == pytest.approx(huber(columns["sem"], 0.7).mean())
    for k, name in enumerate(CONTINUATIONS):
        assert found[f"huber/{name}"] == pytest.approx(huber(error[:, k], 0.7).mean())
        assert found[f"r2/{name}"] == pytest.approx(1 - (error[:, k] ** 2).mean() / columns["labels"][:, k].var())
        for street, street_name in ((0, "preflop"), (1, "flop")):
            rows = columns["street"] == street
            assert found[f"huber/{street_name}/{name}"] == pytest.approx(huber(error[rows, k], 0.7).mean())
    assert not any("turn" in name for name in found)


def test_points_are_an_even_sample() -> None:
    rows = 5 * SCATTER_ROWS
    values = torch.arange(rows, dtype=torch.float32)[:, None].expand(rows, 4)
    sums = RegressionSums(HuberLoss(), torch.zeros(4), rows)
    for part in torch.split(values, 10_000):
        sums.add(part, part, part, torch.zeros(len(part)))
    points = torch.cat([predicted for predicted, _ in sums.points])[:, 0]
    assert torch.equal(points, torch.arange(0, rows, 5, dtype=torch.float32))


def test_scatter_is_a_picture_with_a_panel_a_column(columns: dict[str, np.ndarray]) -> None:
    labels = columns["labels"].astype(np.float32)
    image = scatter(labels, labels, CONTINUATIONS, "pots")
    height, width, channels = image.shape
    assert channels == 3
    assert width > 3 * height
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 20
