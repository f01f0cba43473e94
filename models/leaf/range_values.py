"""`train.py model=range_values`: states with ranges in, a net over ranges out."""

from typing import Any, NamedTuple

import lightning
import torch
from torch import Tensor, nn
from torch.nn.functional import huber_loss

from models.leaf.range_net import RANGE_NET, STACKS_COUNT, hand_values
from models.training.export import Architecture
from models.training.figures import add_scatter
from models.training.fitting import Goal, TrainerSettings, TrainingOptions, cosine_adam, train_on_shards
from models.training.shard_data import ShardColumns, ShardData
from poker.depth_limit.range_inputs import CLASSES, COLUMNS, STACKS, open_states, stamp
from poker.game.cards import HOLDEM
from poker.report import Table

_SCATTER_STATES = 8


class RangeBatch(NamedTuple):
    """n states: the columns of `poker.depth_limit.range_inputs.COLUMNS` that training reads."""

    rows: Tensor
    public: Tensor
    classes: Tensor
    shape: Tensor
    deviation: Tensor
    ranges: Tensor
    values: Tensor


class RangeData(ShardData[RangeBatch]):
    """Batches of the range states of a `level` at `path`; those that are read together take some 200 MB."""

    VALIDATION_BATCH = 512
    POOL_ROWS = 1 << 14

    def __init__(
        self,
        path: str,
        level: str,
        batch_rows: int = 128,
        epoch_rows: int | None = None,
        validation_share: float = 0.05,
        seed: int = 0,
        split_seed: int = 0,
        on_device: bool = False,
    ) -> None:
        self.level = level
        shards = open_states(path, level)
        least, most = (shards[0].config.get(name) for name in ("least_stack", "most_stack"))
        self.stacks = STACKS if least is None or most is None else (float(least), float(most))
        """Least and largest stack behind of the states, in pots."""
        super().__init__(
            path,
            ShardColumns(path, shards, COLUMNS, RangeBatch),
            batch_rows=batch_rows,
            epoch_rows=epoch_rows,
            validation_share=validation_share,
            seed=seed,
            split_seed=split_seed,
            on_device=on_device,
        )


class RangeModule(lightning.LightningModule):
    """Values of all hands of both players, with the schedule of the leaf net.

    The loss is Huber's over the hands that the board leaves, in the share `range_share` weighted as the ranges hold
    them, otherwise all alike. Logged in validation and tests: `huber`; `huber_in_range`, each player's hands weighted
    as the range holds them; both for the equity less one half in place of the net; `huber_half_pots`, of values in
    halves of the pot, as published figures are; `huber_of_zero`, and `huber_of_classes`, what is left where all hands
    of a class have its mean value.
    """

    def __init__(
        self, net: nn.Module, huber_delta: float, range_share: float, learning_rate: float, weight_decay: float
    ) -> None:
        super().__init__()
        self.net, self._share = net, range_share
        self._delta, self.learning_rate, self._decay = huber_delta, learning_rate, weight_decay
        self._points: list[tuple[Tensor, Tensor]] = []
        self._held: Tensor
        held = torch.from_numpy(HOLDEM.hand_cards.astype("int64"))
        self.register_buffer("_held", torch.zeros(len(held), 52).scatter_(1, held, 1.0), persistent=False)

    def forward(self, batch: RangeBatch) -> Tensor:
        return _values(batch, self.net(batch.rows, batch.public))

    def configure_optimizers(self) -> Any:
        return cosine_adam(self, self.net, self.learning_rate, self._decay)

    def training_step(self, batch: RangeBatch, index: int) -> Tensor:
        even, weights = self._weights(batch)
        losses = huber_loss(self(batch), batch.values, delta=self._delta, reduction="none")
        loss = (losses * torch.lerp(even, weights, self._share)).sum(dim=2).mean()
        if self.trainer.global_step % self.trainer.log_every_n_steps == 0:  # type: ignore[attr-defined]
            self.log("train/huber", loss.detach())
        return loss

    def validation_step(self, batch: RangeBatch, index: int) -> None:
        predicted = self(batch).float()
        self._log_means("validation", predicted, batch)
        if index == 0:
            live = (batch.classes < CLASSES)[:_SCATTER_STATES, None].expand(-1, 2, -1)
            few, labels = predicted[:_SCATTER_STATES][live], batch.values[:_SCATTER_STATES][live]
            self._points.append((few[:, None].cpu(), labels[:, None].cpu()))

    def test_step(self, batch: RangeBatch, index: int) -> None:
        self._log_means("test", self(batch).float(), batch)

    def _log_means(self, stage: str, predicted: Tensor, batch: RangeBatch) -> None:
        """Means over all batches, which Lightning weighs by their states."""
        values, (even, weights) = batch.values, self._weights(batch)
        equity = torch.zeros(*batch.rows.shape[:3], 2 + batch.shape.shape[2], device=values.device)
        equity[..., 0], equity[..., 1] = batch.rows[..., 2] - 0.5, 1
        checked = _values(batch, equity)
        means: dict[str, Tensor] = {}
        for suffix, guess in (("", predicted), ("_of_equity", checked)):
            losses = huber_loss(guess, values, delta=self._delta, reduction="none")
            means |= {f"huber{suffix}": (losses * even).sum(dim=2).mean()}
            means |= {f"huber_in_range{suffix}": (losses * weights).sum(dim=2).mean()}
        in_halves = huber_loss(2 * predicted, 2 * values, delta=self._delta, reduction="none")
        means["huber_half_pots"] = (in_halves * even).sum(dim=2).mean()
        means["mean_error"] = ((predicted - values).abs() * even).sum(dim=2).mean()
        for name, guess in (("zero", torch.zeros_like(values)), ("classes", _class_means(values, batch.classes))):
            losses = huber_loss(guess, values, delta=self._delta, reduction="none")
            means[f"huber_of_{name}"] = (losses * even).sum(dim=2).mean()
        named = {f"{stage}/{name}": value for name, value in means.items()}
        self.log_dict(named, on_step=False, on_epoch=True, batch_size=len(values), sync_dist=True)

    def _weights(self, batch: RangeBatch) -> tuple[Tensor, Tensor]:
        """[n, 2, H] weights that sum to 1 of the hands that the board leaves, all alike, and as
        `poker.depth_limit.range_inputs.joint_weights` has them."""
        live, opponent = (batch.classes < CLASSES)[:, None].expand_as(batch.values), batch.ranges.flip(1)
        blocked = (opponent @ self._held) @ self._held.T - opponent
        joint = batch.ranges * (opponent.sum(dim=2, keepdim=True) - blocked)
        return live / live.sum(dim=2, keepdim=True), joint / joint.sum(dim=2, keepdim=True)

    def on_validation_epoch_end(self) -> None:
        add_scatter(self, self._points, ["value"])


def _values(batch: RangeBatch, by_class: Tensor) -> Tensor:
    return hand_values(by_class, batch.rows, batch.classes, batch.shape, batch.deviation)


def _class_means(values: Tensor, classes: Tensor) -> Tensor:
    """[n, 2, H] the mean value of each hand's class."""
    place = classes.long()[:, None].expand_as(values)
    sums, counts = (values.new_zeros(len(values), 2, CLASSES + 1) for _ in range(2))
    sums.scatter_add_(2, place, values)
    counts.scatter_add_(2, place, torch.ones_like(values))
    return (sums / counts.clamp_min(1)).gather(2, place)


def train(
    *,
    net: Architecture,
    data: RangeData,
    huber_delta: float,
    range_share: float,
    trainer: TrainerSettings,
    threads: int | None,
    ckpt_path: str | None,
    find_learning_rate: bool,
    compile: bool,
    learning_rate: float,
    weight_decay: float,
    output: str,
    runs: str,
) -> float:
    """Train on the range states of `data`, export the best epoch to `output` and return its loss; one there is kept."""

    def table(losses: dict[str, float]) -> Table:
        heading = f"Losses in pots on {losses['rows']:,} held-out states: {output}"
        return Table(["measure", "loss"], [[name, loss] for name, loss in losses.items() if name != "rows"], heading)

    config = {
        "huber_delta": huber_delta,
        "range_share": range_share,
        "learning_rate": learning_rate,
        "weight_decay": weight_decay,
    }
    return train_on_shards(
        lambda: RangeModule(net(), huber_delta, range_share, learning_rate, weight_decay),
        data,
        net=net,
        goal=Goal(RANGE_NET, stamp(data.level), config),
        counts={STACKS_COUNT: data.stacks},
        table=table,
        options=TrainingOptions(trainer, threads, ckpt_path, find_learning_rate, compile),
        output=output,
        runs=runs,
    )
