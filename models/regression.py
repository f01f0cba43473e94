"""Sums from which the figures of a validation pass are read: loss, R^2 and the like, per street and per output."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from models.losses import HuberLoss

MAX_STREETS = 4
SCATTER_ROWS = 20_000


@dataclass
class RegressionSums:
    """Accumulates over batches, in float64: every sum is [MAX_STREETS, K]; `baseline` [K] is a constant prediction.

    `points` keeps predictions and labels of about `SCATTER_ROWS` rows, evenly spaced over the `expected_rows`.
    """

    loss: HuberLoss
    baseline: Tensor
    expected_rows: int
    rows: Tensor = field(init=False)
    sums: dict[str, Tensor] = field(init=False)
    points: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    def __post_init__(self) -> None:
        shape = (MAX_STREETS, len(self.baseline))
        self.rows = torch.zeros(MAX_STREETS, dtype=torch.float64)
        names = ("huber", "huber_of_mean", "squared_error", "label", "label_squared", "noise")
        self.sums = {name: torch.zeros(shape, dtype=torch.float64) for name in names}

    def add(self, predicted: Tensor, labels: Tensor, label_sem: Tensor, street: Tensor) -> None:
        """One batch of n rows: [n, K] three times, street [n]."""
        street = street.cpu().long()
        baseline = self.baseline.to(labels.device).expand_as(labels)
        terms = {
            "huber": self.loss.elementwise(predicted, labels),
            "huber_of_mean": self.loss.elementwise(baseline, labels),
            "squared_error": (predicted - labels).square(),
            "label": labels,
            "label_squared": labels.square(),
            "noise": self.loss.elementwise(label_sem, torch.zeros_like(label_sem)),
        }
        self.rows.index_add_(0, street, torch.ones(len(street), dtype=torch.float64))
        for name, term in terms.items():
            self.sums[name].index_add_(0, street, term.detach().double().cpu())
        stride = max(1, self.expected_rows // SCATTER_ROWS)
        self.points.append((predicted[::stride].detach().cpu(), labels[::stride].cpu()))

    def mean(self, name: str) -> float:
        """Over all rows and outputs."""
        return float(self.sums[name].sum() / (self.rows.sum() * self.sums[name].shape[1]))

    def per_output(self, name: str) -> Tensor:
        """[K], over all rows."""
        return self.sums[name].sum(dim=0) / self.rows.sum()

    def per_street(self, name: str) -> dict[int, Tensor]:
        """Street -> [K], only for streets that occurred."""
        return {
            street: self.sums[name][street] / self.rows[street]
            for street in range(MAX_STREETS)
            if float(self.rows[street]) > 0
        }

    def r_squared(self) -> Tensor:
        """[K] share of the labels' variance that is explained; 0 where a label is constant."""
        variance = self.per_output("label_squared") - self.per_output("label").square()
        explained = 1.0 - self.per_output("squared_error") / variance.clamp_min(1e-12)
        return torch.where(variance > 1e-12, explained, torch.zeros_like(explained))
