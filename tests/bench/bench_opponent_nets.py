"""Milliseconds of opponent nets at the table: a prediction, and learning from the action that follows it.

Weights are random, shapes those of `conf/net`. Time is CPU time of the thread. The limit of an update is 1 ms.
"""

import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import torch
from hydra.utils import instantiate

from conf.compose import compose
from models.export import Architecture, export_net
from models.opponent_inference import OPPONENT_NET, POPULATION, STAMP, OpponentNet
from poker.betting import Betting
from poker.cards import parse_cards
from poker.opponents.model import NUM_CONTEXTS, Context, context_of
from tests.bench.bench_poki import milliseconds
from tests.games import load_rules

NETS = ("small", "hand", "adaptive")
HANDS = ("cfcfrfffcccc/crc", "cfcfrfffcccc/rcc")


def exported(name: str, root: Path) -> tuple[Path, bool]:
    """A net of this configuration as an artifact, and whether it rests on `hand`."""
    model = compose("train", ["model=opponent", f"net={name}", "seed=0"]).model
    configured = instantiate(model.net, _convert_="all")
    net = Architecture(configured.func, **configured.keywords)
    counts = {POPULATION: [[0.2, 0.5, 0.3]] * NUM_CONTEXTS}
    export_net(root / name, OPPONENT_NET, net, net(), stamp=STAMP, config={}, made_from={}, counts=counts)
    return root / name, model.base is not None


def _predict(predictor: OpponentNet, contexts: Iterator[Context]) -> None:
    predictor.probs(next(contexts))


def _update(predictor: OpponentNet, contexts: Iterator[Context]) -> None:
    predictor.update(next(contexts), 1)


def run() -> list[dict[str, Any]]:
    """Two rows a net; every call sees another betting sequence than the one before."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    rules, board = load_rules("holdem_limit_10p"), parse_cards("Kh9h4c")
    contexts = cycle([context_of(Betting.parse(rules, text), board, "x") for text in HANDS])
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        found = {name: exported(name, root) for name in NETS}
        for name, (path, adapts) in found.items():
            predictor = OpponentNet(path, base=root / "hand" if adapts else None)
            for what, value in (
                ("prediction", milliseconds(partial(_predict, predictor, contexts), 100)),
                ("update", milliseconds(partial(_update, predictor, contexts), 100)),
            ):
                rows.append({"name": f"opponent_{name}_{what}", "value": value, "unit": "ms"})
    torch.set_num_threads(threads)
    return rows
