"""`train.py model=opponent net=NAME` trains a net, `model=opponent_table` measures all predictors on the same rows."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from models.classification import Score, bootstrap, log_losses, score
from models.export import export_net
from models.fitting import TrainerSettings, fit
from models.opponent_data import Inputs, OpponentBatch, OpponentData, OpponentRows
from models.opponent_inference import (
    OPPONENT_NET,
    PLAYERS,
    POPULATION,
    STAMP,
    as_base,
    build,
    describe,
    load_opponent_net,
    probabilities,
)
from models.opponent_module import OpponentModule
from models.opponent_nets import OpponentNetModule, PlayerNet
from poker.artifacts import Artifact, find_artifact, fingerprint_of, open_artifact, write_atomically
from poker.features import opponent
from poker.opponents.predictor import Context, Predictor

PLAYERS_SHOWN = 20
IMPORTANCE_ROWS = 10_000
STREETS = ("preflop", "flop", "turn", "river")


def train(
    *,
    kind: str,
    arguments: Mapping[str, Any],
    base: str | None,
    data: OpponentData,
    trainer: TrainerSettings,
    learning_rate: float,
    weight_decay: float,
    output: str,
    runs: str,
) -> Artifact:
    """Train an opponent net of `kind` for all planned epochs and export it to `output`; what is there is kept.

    `base`: an exported net without memory, for a net that knows players by how they deviate from it.
    """
    sizes = {"players": len(data.rows.known_names)} if kind == "player" else {}
    net = build({"kind": kind, "arguments": {**arguments, **sizes}})
    made_from = {"opponent_actions": data.rows.fingerprint}
    if base is not None:
        made_from["base"] = open_artifact(base, OPPONENT_NET, config=STAMP).fingerprint
    config = {
        "net": describe(net),
        "data": data.config,
        "learning_rate": learning_rate,
        "weight_decay": weight_decay,
        "epochs": trainer.max_epochs,
    }
    console = Console(stderr=True)
    found = find_artifact(output, OPPONENT_NET, config={**config, **STAMP}, made_from=made_from)
    if found is not None:
        console.print(f"opponent net at {output} is made already, from these rows and settings", soft_wrap=True)
        return found
    data.prepare(net.needs, None if base is None else as_base(load_opponent_net(base)))
    identity = fingerprint_of({"config": config, "made_from": made_from, "stamp": STAMP})[:12]
    fitted = fit(
        OpponentModule(net, learning_rate, weight_decay),
        data,
        directory=Path(runs) / f"opponent-{identity}",
        settings=trainer,
        monitor="test/log_loss",
        batch_rows=data.config["batch_rows"],
        best=False,
    )
    net.load_state_dict(fitted.part("net"))
    net.eval()
    probs = np.concatenate([_probs(net, batch) for batch in data.val_dataloader()])
    found_score = score(probs, data.rows.columns["action"][data.rows.test_rows].astype(np.int64))
    console.print(f"{output}: {_line(found_score)}", soft_wrap=True)
    return export_net(
        output,
        OPPONENT_NET,
        Described(net),
        stamp=STAMP,
        config=config,
        made_from=made_from,
        counts={
            "train_rows": len(data.rows.train_rows),
            "test": asdict(found_score),
            POPULATION: data.rows.population_table().tolist(),
            **({PLAYERS: data.rows.known_names} if kind == "player" else {}),
        },
    )


class Described:
    """An opponent net as something to export."""

    def __init__(self, net: OpponentNetModule) -> None:
        self.config = describe(net)
        self._net = net

    def state_dict(self) -> dict[str, Any]:
        return self._net.state_dict()


def _probs(net: OpponentNetModule, batch: OpponentBatch) -> NDArray[np.float64]:
    with torch.inference_mode():
        probs: NDArray[np.float32] = net(batch).softmax(dim=1).numpy()
    return probs.astype(np.float64)


def table(
    *,
    data: str,
    test_share: float,
    statistics: Mapping[str, Predictor],
    nets: Mapping[str, str],
    base: str,
    averages: Mapping[str, Sequence[str]],
    output: str,
) -> dict[str, Any]:
    """Every predictor on the test part, in `output` (JSON) and as a table.

    `statistics` learn on line through the training part and on through the test part; `nets` are paths, `base` is that
    of the net on which the player inputs rest, `averages` name nets whose mean is measured too. Log-loss intervals
    resample hands. For each net how much worse its log-loss on some rows gets when one input is permuted.
    """
    rows = OpponentRows(data, test_share)
    predicted = {name: _walk(predictor, rows) for name, predictor in statistics.items()}
    importance: dict[str, dict[str, float]] = {}
    loaded = {name: load_opponent_net(path) for name, path in nets.items()}
    needs = {name: set(net.needs) for name, net in loaded.items()}
    every = set().union(*needs.values())
    inputs = rows.inputs(every, as_base(load_opponent_net(base)) if "past" in every else None).take(rows.test_rows)
    player = rows.player_numbers[rows.columns["player"][rows.test_rows]]
    action = rows.columns["action"][rows.test_rows].astype(np.int64)
    some = np.random.default_rng(0).permutation(len(action))[:IMPORTANCE_ROWS]
    groups = {name: [name] for name in nets} | {name: list(parts) for name, parts in averages.items()}
    for name, parts in groups.items():
        members = [loaded[part] for part in parts]
        read = sorted(set().union(*(needs[part] for part in parts)))
        predicted[name] = _predict(members, inputs, player)
        importance[name] = _importance(members, read, inputs.take(some), player[some], action[some])
    report = {
        "rows": {"train": len(rows.train_rows), "test": len(rows.test_rows)},
        "predictors": {name: _scores(probs, rows) for name, probs in predicted.items()},
        "importance": importance,
    }
    write_atomically(Path(output), (json.dumps(report, indent=2) + "\n").encode())
    Console(stderr=True).print(_shown(report, output))
    return report


def _walk(predictor: Predictor, rows: OpponentRows) -> NDArray[np.float64]:
    """[test rows, 3] of a predictor that sees all rows in turn, each predicted before it is seen."""
    columns = rows.columns
    out = np.zeros((len(columns["action"]), 3))
    wanted = np.zeros(len(out), dtype=bool)
    wanted[rows.test_rows] = True
    keys = zip(columns["player"], columns["street"], columns["bets"], columns["action"], strict=True)
    predictor.forget()
    for row, (player, street, bets, action) in enumerate(keys):
        context = Context(rows.names[player], int(street), int(bets))
        if wanted[row]:
            out[row] = predictor.probs(context)
        if street or wanted[row]:
            predictor.update(context, int(action))
    return out[rows.test_rows]


def _predict(nets: Sequence[OpponentNetModule], inputs: Inputs, player: NDArray[np.int64]) -> NDArray[np.float64]:
    """[n, 3] for inputs and players by number, the mean of the nets."""
    each = [probabilities(net, inputs, player) for net in nets]
    return np.asarray(np.mean(each, axis=0, dtype=np.float64))


def _importance(
    nets: Sequence[OpponentNetModule],
    needs: Sequence[str],
    inputs: Inputs,
    player: NDArray[np.int64],
    action: NDArray[np.int64],
) -> dict[str, float]:
    """Rise of the log-loss when the values of one of the 19 inputs, or of all of another kind, change places."""
    before = log_losses(_predict(nets, inputs, player), action).mean()
    order = np.random.default_rng(1).permutation(len(action))
    found = {}

    def note(name: str, changed: Inputs, who: NDArray[np.int64] = player) -> None:
        found[name] = float(log_losses(_predict(nets, changed, who), action).mean() - before)

    for column, name in enumerate(opponent.NAMES):
        shuffled = inputs.features.copy()
        shuffled[:, column] = shuffled[order, column]
        note(name, inputs._replace(features=shuffled))
    for name in needs:
        note(name, inputs._replace(**{name: getattr(inputs, name)[order]}))
    if any(isinstance(net, PlayerNet) for net in nets):
        note("player", inputs, player[order])
    return found


def _scores(probs: NDArray[np.float64], rows: OpponentRows) -> dict[str, Any]:
    columns, test = rows.columns, rows.test_rows
    action, hands = columns["action"][test].astype(np.int64), columns["hand"][test].astype(np.int64)
    street, player = columns["street"][test], columns["player"][test]
    parts = {"all": np.ones(len(test), dtype=bool), "facing a bet": columns["bets"][test] > 0}
    parts |= {STREETS[number]: street == number for number in (1, 2, 3)}
    found: dict[str, Any] = {
        name: asdict(score(probs[part], action[part])) for name, part in parts.items() if part.any()
    }
    found["all"]["interval"] = bootstrap(log_losses(probs, action), hands)
    active = np.argsort(-np.bincount(player), kind="stable")[:PLAYERS_SHOWN]
    each = [score(probs[player == one], action[player == one]) for one in active if (player == one).any()]
    found["mean of the most active players"] = {
        "players": len(each),
        "rows": sum(one.rows for one in each),
        **{name: float(np.mean([getattr(one, name) for one in each])) for name in ("accuracy", "log_loss", "brier")},
    }
    return found


def _line(found: Score) -> str:
    return f"accuracy {found.accuracy:.2%}, log-loss {found.log_loss:.4f}, calibration error {found.calibration:.4f}"


def _shown(report: Mapping[str, Any], output: str) -> Table:
    shown = Table(title=f"Predictors on {report['rows']['test']:,} later decisions ({output})")
    for name in ("predictor", "accuracy", "log-loss", "95%", "Brier", "calibration", "facing a bet", "most active"):
        shown.add_column(name, justify="left" if name == "predictor" else "right")
    for name, found in report["predictors"].items():
        every, facing = found["all"], found["facing a bet"]
        active = found["mean of the most active players"]
        shown.add_row(
            name,
            f"{every['accuracy']:.1%}",
            f"{every['log_loss']:.4f}",
            "{:.4f}..{:.4f}".format(*every["interval"]),
            f"{every['brier']:.4f}",
            f"{every['calibration']:.4f}",
            f"{facing['accuracy']:.1%}",
            f"{active['accuracy']:.1%}",
        )
    return shown
