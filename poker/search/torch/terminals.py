"""Terminals of the torch backend: what all hands of a player win on every board, from sums over the opponent's reach.

Shapes: R rows, B boards, N hands of a player on a board (padded to the most). Sums are float64.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Hands:
    """Hands of one player on the B boards of a street: `up` [B, N] places in the list above, `live` [B, N], cards, and
    what a showdown needs; `twin` [B, N] is the place in the opponent's list (N of the opponent where absent)."""

    live: Tensor
    up: Tensor
    cards: Tensor
    twin: Tensor
    less: Tensor
    upto: Tensor
    by_card: Tensor
    card_start: Tensor
    card_less: Tensor
    card_upto: Tensor
    where: Tensor
    orbit: Tensor


def proportions(positive: Tensor) -> Tensor:
    """Rows [G, A, ...] divided by their sums over A; uniform where that is 0."""
    mass = positive.sum(dim=1, keepdim=True)
    return torch.where(mass > 0, positive / torch.where(mass > 0, mass, 1.0), 1.0 / positive.shape[1])


def _prefix(rows: Tensor) -> Tensor:
    """Sums of the first 0..n elements of the last dimension."""
    return torch.nn.functional.pad(rows.cumsum(dim=-1), (1, 0))


def _by_card(reach: Tensor, theirs: Hands) -> Tensor:
    """Prefix sums [R, B, 2N + 1] of the opponent's reach, card after card."""
    padded = torch.nn.functional.pad(reach, (0, 1))
    return _prefix(padded.gather(2, theirs.by_card.expand(len(reach), -1, -1)).double())


def _at(prefix: Tensor, index: Tensor) -> Tensor:
    """prefix[r, b, index[b, ...]] [R, B, ...]."""
    flat = index.reshape(len(index), -1).expand(len(prefix), -1, -1)
    return prefix.gather(2, flat).view(len(prefix), *index.shape)


def fold_values(reach: Tensor, own: Hands, theirs: Hands) -> Tensor:
    """Compatible mass [R, B, N] of the opponent's hands."""
    prefix = _by_card(reach, theirs)
    per_card = _at(prefix, theirs.card_start[:, 1:]) - _at(prefix, theirs.card_start[:, :-1])
    blocked = _at(per_card, own.cards).sum(dim=-1)
    both = _at(torch.nn.functional.pad(reach, (0, 1)), own.twin)
    total = reach.double().sum(dim=2, keepdim=True)
    return ((total - blocked + both) * own.live).float()


def showdown_values(reach: Tensor, own: Hands, theirs: Hands) -> Tensor:
    """Compatible weaker mass minus stronger mass [R, B, N]; hands are in order of strength."""
    prefix = _prefix(reach.double())
    value = _at(prefix, own.less) + _at(prefix, own.upto) - prefix[..., -1:]
    card = _by_card(reach, theirs)
    ends = _at(card, theirs.card_start[:, :-1]) + _at(card, theirs.card_start[:, 1:])
    part = _at(card, own.card_less) + _at(card, own.card_upto)
    blocked = _at(part, own.where) - _at(ends, own.cards)
    return ((value - blocked.sum(dim=-1)) * own.live).float()
