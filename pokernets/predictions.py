"""Predictions of trained nets: values at the depth limit, and actions of opponents."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from models.opponent.inference import OpponentNet
from models.training.inference import LeafNet, open_leaf_net
from poker.depth_limit.inputs import encode_pairs
from poker.game.cards import hand_index, parse_cards
from poker.game.state import HandState
from poker.kernels.ahead import compile_apart
from poker.kernels.types import Columns
from poker.opponents.model import CLASS_NAMES, RAISE_CLASS, context_of
from poker.run.errors import PokernetsError
from pokernets.places import source_path


def leaf_values(
    state: HandState, own: Sequence[str], opp: Sequence[str], *, player: int, source: str | Path = "laptop"
) -> Columns:
    """Values by the leaf net of `source` of the pairs of hands own[i], opp[i] (`AsAd`) to `player`, a row each.

    A column each for how the opponent goes on after the depth limit: net chips over the whole hand, in pots. The
    betting round of `state` must be over: `agent.state("cr300c/cc", "Ks9d4c")`. PokernetsError for hands that are none.
    """
    if len(own) != len(opp):
        raise PokernetsError(f"{len(own)} hands of the player and {len(opp)} of the opponent: a pair has one of each")
    compile_apart()
    path = source_path(source) / "leaf_net"
    names = open_leaf_net(path, None).config["continuations"]
    mine, theirs = (np.array([_hand(text, state) for text in texts]) for texts in (own, opp))
    values = LeafNet(path).values(encode_pairs(state.board, state.betting, player, mine, theirs))
    return {"own": np.array(own), "opp": np.array(opp), **dict(zip(names, values.T, strict=True))}


def _hand(text: str, state: HandState) -> int:
    cards = parse_cards(text)
    if len(set(cards)) != 2 or set(cards) & set(state.board):
        raise PokernetsError(f"`{text}` is no hand of two cards beside the board")
    return hand_index(*cards)


def opponent_probabilities(
    states: Iterable[HandState], net: str | Path, *, base: str | Path | None = None, player: str = ""
) -> Columns:
    """Probabilities of `fold`, `check/call` and `bet/raise` by the opponent net at `net` for the player to act in each
    state, a row each; states are of the betting, limit or no-limit, that the net was trained on.

    They do not see the cards held. Before the flop those of limit nets are frequencies of the players in training.
    `base` is the net that one with memory rests on, `player` a name that the net may know.
    """
    compile_apart()
    predictor = OpponentNet(net, base)
    each = [predictor.probs(context_of(state.betting, state.board, player)) for state in states]
    rows = [(*row[:RAISE_CLASS], row[RAISE_CLASS:].sum()) for row in each]
    return dict(zip(CLASS_NAMES, np.reshape(rows, (-1, len(CLASS_NAMES))).T, strict=True))
