"""Predictions of trained nets: values at the depth limit, and opponents' actions."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from models.opponent.inference import OpponentNet
from models.training.inference import LeafNet, open_leaf_net
from poker.depth_limit.inputs import encode_pairs
from poker.game.cards import hand_index, parse_cards
from poker.game.rules import RAISE_CLASS
from poker.game.state import HandState
from poker.kernels.ahead import compile_apart
from poker.kernels.types import Columns
from poker.opponents.model import CLASS_NAMES, context_of
from poker.run.errors import PokernetsError
from pokernets.places import source_path


def leaf_values(
    state: HandState, own: Sequence[str], opp: Sequence[str], *, player: int, source: str | Path = "laptop"
) -> Columns:
    """Return the leaf net's values of pairs of hands at a depth limit.

    Args:
        state: a state after a betting round, such as `agent.state("cr300c/cc", "Ks9d4c")`.
        own: [N] hands of the player, such as `AsAd`.
        opp: [N] hands of the opponent.
        player: the player whose values are returned.
        source: as in `load_agent`.

    Returns:
        a table with N rows: columns `own`, `opp`, and for each continuation of the opponent after the depth limit the
        player's net chips over the whole hand, in pots.

    Raises:
        PokernetsError: a hand is invalid, the lists have different lengths, or the net is missing.
    """
    if len(own) != len(opp):
        raise PokernetsError(f"the player has {len(own)} hands, the opponent {len(opp)}: give the same number for both")
    compile_apart()
    path = source_path(source) / "leaf_net"
    names = open_leaf_net(path, None).config["continuations"]
    mine, theirs = (np.array([_hand(text, state) for text in texts]) for texts in (own, opp))
    values = LeafNet(path).values(encode_pairs(state.board, state.betting, player, mine, theirs))
    return {"own": np.array(own), "opp": np.array(opp), **dict(zip(names, values.T, strict=True))}


def _hand(text: str, state: HandState) -> int:
    cards = parse_cards(text)
    if len(set(cards)) != 2 or set(cards) & set(state.board):
        raise PokernetsError(f"`{text}` is not a hand of two cards off the board")
    return hand_index(*cards)


def opponent_probabilities(
    states: Iterable[HandState], net: str | Path, *, base: str | Path | None = None, player: str = ""
) -> Columns:
    """Return an opponent net's probabilities for the player to act in each state.

    The net does not see the player's cards. Before the flop, limit nets return frequencies of the players in the
    training data.

    Args:
        states: [N] states of the kind of betting, limit or no-limit, that the net was trained on.
        net: folder of the net.
        base: the net on which a net with memory is based.
        player: name of the player, which the net may know.

    Returns:
        a table with N rows and the columns `fold`, `check/call` and `bet/raise`.

    Raises:
        PokernetsError: the net is missing or does not fit the states.
    """
    compile_apart()
    predictor = OpponentNet(net, base)
    each = [predictor.probs(context_of(state.betting, state.board, player)) for state in states]
    rows = [(*row[:RAISE_CLASS], row[RAISE_CLASS:].sum()) for row in each]
    return dict(zip(CLASS_NAMES, np.reshape(rows, (-1, len(CLASS_NAMES))).T, strict=True))
