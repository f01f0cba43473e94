"""Value of more hands to predictors of people: `python -m tests.bench.predictor_data ROWS`.

ROWS are made by `python -m data_gen job=opponent_actions source=irc path=ARCHIVE`. The latest eighth, quarter, half and
all of their training hands train the net that knows the hand alone and the one that also remembers the player; log-loss
is of the same later decisions. Fewer hands train for more epochs.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from conf.compose import call, chosen, compose
from poker.store.artifacts import open_artifact
from tests.bench.record import record

SHARES = 0.125, 0.25, 0.5, 1.0
NETS = "hand", "adaptive"


def trained(rows: Path, share: float, seed: int, root: Path) -> dict[str, Any]:
    """The rows that trained and the log-loss of either net."""
    content: dict[str, Any] = {"train_share": share, "seed": seed}
    for net in NETS:
        chosen_net = ["model=opponent", f"net={net}", f"seed={seed}", f"runs={root / 'runs'}", f"artifacts={root}"]
        data = [f"model.data.path={rows}", f"model.data.train_share={share}"]
        epochs = round(compose("train", chosen_net).trainer.max_epochs / share**0.5)
        content[net] = call(chosen(compose("train", [*chosen_net, *data, f"trainer.max_epochs={epochs}"]), "model"))
        content["train_rows"] = open_artifact(root / "opponent_net" / net, "opponent_net").counts["train_rows"]
    return content


def main(rows: Path, seeds: int) -> dict[str, Any]:
    parts = []
    for share in SHARES:
        for seed in range(1, seeds + 1):
            with tempfile.TemporaryDirectory() as root:
                parts.append(trained(rows, share, seed, Path(root)))
    return record(rows=open_artifact(rows, "opponent_actions").fingerprint, log_loss=parts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.predictor_data")
    parser.add_argument("rows", type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    print(json.dumps(main(given.rows, given.seeds), indent=1))
