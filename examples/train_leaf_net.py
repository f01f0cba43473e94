"""Train a leaf net on states that `make demo` labelled, and ask it what hands are worth at the end of a flop.

python examples/train_leaf_net.py [LEAF_STATES] [EPOCHS]
"""

import sys
from collections.abc import Sequence
from functools import partial

import lightning
import numpy as np
import torch
from numpy.typing import NDArray

from conf.compose import build, compose
from models.leaf.data import LeafData
from models.leaf.module import LeafModule
from models.training.mlp import Mlp
from models.training.run import quiet
from poker.depth_limit.inputs import SIZE, encode_pairs
from poker.game.betting import Betting
from poker.game.cards import hand_index, parse_cards


def main(path: str = "artifacts/demo/leaf_states", epochs: str = "2") -> None:
    quiet()
    data = LeafData(path, epoch_rows=200_000)
    net = Mlp(SIZE, [256, 128, 128, 128], len(data.continuations))
    module = LeafModule(net, torch.nn.HuberLoss(), partial(torch.optim.Adam, lr=0.002))
    trainer = lightning.Trainer(max_epochs=int(epochs), accelerator="cpu", logger=False, enable_checkpointing=False)
    trainer.fit(module, data)
    print(f"Huber loss {trainer.callback_metrics['validation/huber']:.4f} pots on held-out states")

    game = build(compose("train", []).game)
    flop = Betting.parse(game, "cr300c/cc")  # limp, raise to three big blinds, call; both check the flop
    rows = encode_pairs(parse_cards("Ks9d4c"), flop, 1, _hands(["AsAd", "QcJc", "7h2h"]), _hands(["KhQh"] * 3))
    with torch.inference_mode():
        values = net.eval()(torch.from_numpy(rows)).numpy()
    for text, value in zip(("AsAd", "QcJc", "7h2h"), values, strict=True):
        each = ", ".join(f"{name} {pots:+.2f}" for name, pots in zip(data.continuations, value, strict=True))
        print(f"{text} on the button against KhQh, in pots if the opponent goes on by: {each}")


def _hands(texts: Sequence[str]) -> NDArray[np.int64]:
    return np.array([hand_index(*parse_cards(text)) for text in texts])


if __name__ == "__main__":
    main(*sys.argv[1:])
