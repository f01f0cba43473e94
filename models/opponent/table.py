"""`evaluate=opponent_table`: compare all predictors of actions on the same decisions."""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from models.opponent.data import OpponentRows
from models.opponent.inference import load_opponent_net
from models.opponent.inputs import Inputs
from models.opponent.module import log_losses, score
from models.opponent.nets import ActionNet
from models.opponent.record import NetRecord, check_base, check_together
from models.opponent.shares import hands_before, with_counts
from poker.game.rules import RAISE_CLASS, STREET_NAMES
from poker.kernels.types import I64, Bools, Floats
from poker.opponents.inputs.frequencies import share_of_weights
from poker.opponents.inputs.history import by_class
from poker.opponents.inputs.no_limit import SPOTS
from poker.opponents.model import Context, Predictor
from poker.report import Figure, Report, Section, Table
from poker.report.charts import intervals
from poker.report.estimates import Estimate
from poker.run.progress import Console

RESAMPLES = 1000


class TrainedNet(NamedTuple):
    """A net and the record of its training.

    Attributes:
        record: its training record.
    """

    net: ActionNet
    record: NetRecord


def run(
    *,
    data: str,
    test_share: float | None,
    statistics: Mapping[str, Predictor],
    nets: Mapping[str, str],
    base: str,
    counted: Mapping[str, str],
    reference: str,
    apart: Sequence[str],
    architectures: Collection[str],
    out: str,
) -> dict[str, float]:
    """Measure every predictor on the last hands of a data set and write a report.

    Statistics learn online from the earlier hands and during the test part. Raises of all sizes are one class. Log-loss
    intervals resample hands.

    Args:
        data: directory of the rows.
        test_share: share of the hands to test on, the last ones. None uses the test part of the nets if they learned
            from these rows, else all hands.
        statistics: predictors without training, by name.
        nets: paths of nets by name.
        base: path of the net that player inputs are based on.
        counted: names of nets to use as a prior of each player's counts, with the weights of their training.
        reference: predictor from which differences are computed.
        apart: names of players to report separately.
        architectures: dotted names of classes outside `models` that nets may have.
        out: directory of the report.

    Returns:
        Log-loss of each predictor on all test decisions.

    Raises:
        MismatchedArtifactError: a net may have learned from the test part, or the nets do not fit together.
        ArtifactError: an artifact is missing or damaged.
    """
    rows, measured, all_inputs = _load(nets, base, data, test_share, architectures)
    inputs = all_inputs.take(rows.test_rows)
    predicted = {name: _online_predictions(predictor, rows) for name, predictor in statistics.items()}
    predicted |= {name: _predict(trained.net, inputs) for name, trained in measured.items()}
    predicted |= {name: _by_counts(measured[of], rows, all_inputs) for name, of in counted.items() if of in nets}
    met = np.zeros(len(rows.names), dtype=bool)
    for trained in measured.values():
        met |= trained.record.has_met(rows.names)
    record: dict[str, Any] = {
        "rows": {
            "train": len(rows.train_rows),
            "test": len(rows.test_rows),
            "by_known_players": int(met[rows.columns["player"][rows.test_rows]].sum()),
            "fingerprint": rows.fingerprint,
        },
        "nets": {name: trained.record.fingerprint for name, trained in measured.items()},
        "weights": {of: measured[of].record.weights.tolist() for of in counted.values() if of in nets},
        "predictors": _scores(predicted, rows, met, reference, apart),
    }
    losses = {name: float(scores["all"]["log_loss"]) for name, scores in record["predictors"].items()}
    report = Report("Predictors of actions", _sections(record, out), record)
    report.write(Path(out), Console(stderr=True))
    return losses


def _load(
    nets: Mapping[str, str], base: str, data: str, test_share: float | None, architectures: Collection[str]
) -> tuple[OpponentRows, dict[str, TrainedNet], Inputs]:
    """Read the rows at `data`, whose test part no net has learned from, the nets, and the inputs of all rows."""
    records = {name: NetRecord.read(path, name) for name, path in nets.items()}
    check_together(list(records.values()))
    loaded = {name: load_opponent_net(path, architectures) for name, path in nets.items()}
    needs = set().union(*(net.needs for net in loaded.values()))
    rows = OpponentRows(data, 1.0 if test_share is None else test_share)
    shares = [record.test_share for record in records.values() if record.rows == rows.fingerprint]
    if test_share is None and shares:
        rows = OpponentRows(data, shares[0])
    base_probs = None
    unseen = list(records.values())
    if "past" in needs:
        base_probs = load_opponent_net(base, architectures).probs
        unseen.append(NetRecord.read(base, "base"))
        check_base(unseen[-1], [record for name, record in records.items() if "past" in loaded[name].needs])
    for record in unseen:
        record.check_unseen(rows)
    population = unseen[0].table if unseen else None
    inputs = rows.inputs(needs, base_probs, population)
    return rows, {name: TrainedNet(net, records[name]) for name, net in loaded.items()}, inputs


def _online_predictions(predictor: Predictor, rows: OpponentRows) -> Floats:
    """Return probabilities [test rows, 3] of a predictor that learns from each row after it has predicted it."""
    keys = (rows.columns[name].tolist() for name in ("player", "street", "bets", "action"))
    spots = zip(*(part.tolist() for part in np.unravel_index(rows.columns["spot"], SPOTS)), strict=True)
    tested, predicted = set(rows.test_rows.tolist()), []
    predictor.forget()
    for row, (spot, player, street, bets, action) in enumerate(zip(spots, *keys, strict=True)):
        context = Context(rows.names[player], street, bets, spot=spot)
        if row in tested:
            predicted.append(predictor.probs(context))
        if street >= rows.first_street:  # like every row in the test part
            predictor.update(context, min(action, RAISE_CLASS))
    return np.array(predicted, dtype=np.float64)


def _by_counts(trained: TrainedNet, rows: OpponentRows, all_inputs: Inputs) -> Floats:
    """Return probabilities [test rows, 3] of a net combined with each player's counts.

    The weights start from the net's training and are updated by the player's past.
    """
    seen = np.concatenate([rows.train_rows, rows.test_rows])
    player = rows.columns["player"][seen].astype(np.int64)
    probs, likely = with_counts(_predict(trained.net, all_inputs.take(seen)), rows, seen)
    order = np.argsort(player, kind="stable")
    before = np.cumsum(likely[order], axis=0) - likely[order]
    starts = np.concatenate([[True], np.diff(player[order]) > 0])
    explained = np.empty_like(before)
    explained[order] = before - before[np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))]
    shares = share_of_weights(trained.record.weights, explained)[:, None]
    return np.asarray((shares @ probs)[len(rows.train_rows) :, 0])


def _predict(net: ActionNet, inputs: Inputs) -> Floats:
    """Return probabilities [n, 3] for the inputs of n rows."""
    return by_class(net.probs(inputs)).astype(np.float64)


def _losses(probs: Floats, action: I64) -> Floats:
    return log_losses(torch.from_numpy(probs), torch.from_numpy(action)).numpy()


def bootstrap(values: Floats, groups: I64, seed: int = 0) -> tuple[float, float]:
    """Compute the 95% interval of a mean by resampling groups.

    Args:
        values: float64 [n] values.
        groups: int64 [n] group of each value; whole groups are drawn with replacement.
        seed: seed of the draws.

    Returns:
        Lower and upper bound.
    """
    _, index = np.unique(groups, return_inverse=True)
    sums, sizes = np.bincount(index, weights=values), np.bincount(index).astype(np.float64)
    generator, means = np.random.default_rng(seed), []
    for _ in range(RESAMPLES):
        counts = np.bincount(generator.integers(0, len(sums), len(sums)), minlength=len(sums))
        means.append(counts @ sums / (counts @ sizes))
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def _scores(
    predicted: Mapping[str, Floats], rows: OpponentRows, met: Bools, reference: str, apart: Sequence[str]
) -> dict[str, Any]:
    """Return the scores of each predictor by part of the test rows; `met` [players] marks players known to a net."""
    columns, test = rows.columns, rows.test_rows
    action, hands = np.minimum(columns["action"][test], RAISE_CLASS).astype(np.int64), columns["hand"][test]
    street, player = columns["street"][test], columns["player"][test]
    before, met_before = hands_before(columns["player"], columns["hand"])[test], met[player]
    parts = {"all": np.ones(len(test), dtype=bool), "facing a bet": columns["bets"][test] > 0}
    parts |= {STREET_NAMES[number]: street == number for number in range(rows.first_street, len(STREET_NAMES))}
    parts |= {"players met": met_before, "players not met": ~met_before}
    parts |= {"not met, first 100 hands": ~met_before & (before < 100)}
    parts |= {"after 1,000 hands": before >= 1000}
    parts |= {name: player == rows.names.index(name) for name in apart if name in rows.names}
    parts |= {f"not {name}": ~parts[name] for name in apart if name in parts}
    losses = {name: _losses(probs, action) for name, probs in predicted.items()}
    by_predictor: dict[str, Any] = {}
    for name, probs in predicted.items():
        own = by_predictor[name] = {key: score(probs[part], action[part]) for key, part in parts.items() if part.any()}
        for key, scores in own.items():
            scores["interval"] = bootstrap(losses[name][parts[key]], hands[parts[key]])
            if reference in predicted and name != reference:
                less = (losses[name] - losses[reference])[parts[key]]
                scores["less_reference"] = [float(less.mean()), *bootstrap(less, hands[parts[key]])]
    return by_predictor


def _sections(record: Mapping[str, Any], out: str) -> list[Section]:
    """Return the sections of the report; the console omits columns that do not fit into eighty characters."""
    rows: list[list[object]] = []
    parts: list[list[object]] = []
    losses = []
    for name, scores in record["predictors"].items():
        every, faced = scores["all"], scores["facing a bet"]
        low, high = every["interval"]
        middle = (low + high) / 2 - every["log_loss"]
        losses.append((name, Estimate(every["log_loss"], (high - low) / 2, math.nan, every["rows"], middle)))
        rows.append([name, f"{every['accuracy']:.1%}", losses[-1][1], every["calibration"]])
        parts.append([name, every["brier"], f"{faced['accuracy']:.1%}"])
    tested, by_met = record["rows"]["test"], record["rows"]["by_known_players"]
    return [
        Table(
            ("predictor", "accuracy", "log-loss", "calibration"),
            rows,
            f"Predictors on {tested:,} decisions that no net was trained on ({out})",
            f"{by_met:,} of these decisions are by players of the training data",
        ),
        Figure("results", partial(intervals, "Predictors of actions", "log-loss", {"all decisions": losses})),
        Table(("predictor", "Brier", "facing a bet"), parts, "Further scores", console=False),
    ]
