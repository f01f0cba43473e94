"""The blueprint: an average strategy over a whole betting tree and card buckets, stored in 8 or 16 bits.

The stored values of an infoset are integers that sum to 255 (65,535), so probabilities are exact multiples. Play,
rollouts and measurements all use exactly this strategy. With 32 bits the float32 strategy itself is stored.

N is the number of betting nodes, S of streets, B of buckets on a street, A of actions at a node, H of hands and K of
continuations.
"""

import dataclasses
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import Buckets
from poker.game.rules import CALL, CALL_CLASS, FOLD, FOLD_CLASS, NO_ACTION, RAISE_CLASS, Rules, rules_from
from poker.game.state import Betting
from poker.kernels.types import Singles
from poker.run.errors import PokernetsError
from poker.solvers.sampling.tree import SamplingTree, sampling_tree
from poker.store.artifacts import (
    Artifact,
    CorruptArtifactError,
    canonical_json,
    open_artifact,
    refuses_by_name,
    write_artifact,
)
from poker.tree import BettingTree, Kind, build_tree

KIND = "blueprint"
CONTINUATIONS = ("blueprint", "fold", "call", "raise")
"""Continuations at the depth limit, in the order of labels and outputs: the blueprint and its biased forms."""
_TREE_PREFIX = "tree_"
"""Prefix of the names of a tree's arrays in artifacts."""
_HEX_BYTES = 1 << 20
_BATCH_ENTRIES = 1 << 20
_DTYPES: dict[int, type[np.generic]] = {8: np.uint8, 16: np.uint16, 32: np.float32}


@dataclass(frozen=True, eq=False)
class Blueprint:
    """An average strategy over a betting tree and card buckets.

    Attributes:
        sampling: placement of infosets in `strategy`.
        strategy: uint8, uint16 or float32 [entries] action weights; infoset (node, bucket) begins at `sampling.starts`.
        bias: [3] multipliers of the probabilities by class of action before they are renormalised; all 1 for the
            blueprint itself.
        fingerprint: hash of the artifact it was loaded from.
    """

    tree: BettingTree
    cards: Buckets
    sampling: SamplingTree
    strategy: NDArray[Any]
    bias: tuple[float, float, float] = (1.0, 1.0, 1.0)
    fingerprint: str = ""  # of the artifact it was loaded from

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self.tree.rules

    def probs(self, node: int, board: tuple[int, ...] | None = None) -> Singles:
        """Return the strategy at a betting node, over `tree.actions(node)`.

        Args:
            node: a decision node.
            board: cards of the street's board; None for the strategy by bucket.

        Returns:
            float32 [B, A] by bucket, or [H, A] by hand with a board; rows of hands that share a card with the board are
            0.

        Raises:
            PokernetsError: the board has the wrong number of cards.
        """
        weights = self.sampling.entries(self.strategy, int(self.sampling.index[node])).astype(np.float32)
        weights *= np.asarray(self.bias, dtype=np.float32)[action_classes(np.array(self.tree.actions(node)))]
        by_bucket: Singles = weights / weights.sum(axis=1, keepdims=True)
        if board is None:
            return by_bucket
        size = self.rules.board_sizes[int(self.tree.street[node])]
        if len(board) != size:
            raise PokernetsError(f"the blueprint's node {node} is played with {size} board cards, not {len(board)}")
        buckets = self.cards.buckets(board)
        probs: Singles = by_bucket[np.maximum(buckets, 0)]
        probs[buckets < 0] = 0.0
        return probs

    def form(self, artifact: Artifact, name: str) -> "Blueprint":
        """Return another strategy on this tree.

        Args:
            artifact: artifact with the strategy.
            name: name of its array.

        Raises:
            ArtifactError: the array is missing or has the wrong size or type.
        """
        return replace(self, strategy=stored_strategy(artifact, name, self.strategy.size))

    def biased(self, kind: str, factor: float = 10.0) -> "Blueprint":
        """Return a biased continuation of [DLS] section 4.

        Args:
            kind: one of `CONTINUATIONS`.
            factor: multiplier of the favoured class of action, before probabilities are renormalised.

        Raises:
            PokernetsError: there is no such continuation.
        """
        return replace(self, bias=bias_of(kind, factor))

    def save(self, path: str | Path, config: dict[str, Any], counts: dict[str, Any]) -> None:
        """Write the artifact.

        Args:
            path: directory of the artifact.
            config: settings that produced the strategy.
            counts: counts such as the training time.
        """
        tree = None if self.tree.from_rules else self.tree
        save_strategy(path, self.strategy, self.cards, self.rules, tree, config, counts)

    @classmethod
    @refuses_by_name(KIND)
    def load(cls, path: str | Path, cards: Buckets, game: Rules | None = None) -> "Blueprint":
        """Open a blueprint.

        Args:
            path: directory of the artifact.
            cards: the abstraction that it must have been made with.
            game: the game that it must fit; None to accept any.

        Raises:
            ArtifactError: the artifact is missing or damaged, or was made with another abstraction.
            RulesError: it was made for another game.
        """
        artifact = open_artifact(path, KIND, made_from={"abstraction": cards.fingerprint})
        tree, sampling = _stored_trees(artifact, cards.num_buckets)
        if game is not None:
            tree.rules.must_fit(game, f"the blueprint {path}", exactly=True)
        strategy = stored_strategy(artifact, "strategy", sampling.table_size // 2)
        return cls(tree, cards, sampling, strategy, fingerprint=artifact.fingerprint)


@dataclass(frozen=True, eq=False)
class FirstRound:
    """A blueprint without its abstraction: the betting tree and the strategy of the first round.

    Bundles may contain no more than this. `sampling` and `strategy` have no buckets after the first round.

    Attributes:
        tree: the betting tree of the whole hand.
        sampling: placement of infosets in `strategy`.
        strategy: [entries] action weights of the first round.
        fingerprint: hash of the artifact.
    """

    tree: BettingTree
    sampling: SamplingTree
    strategy: NDArray[Any]
    fingerprint: str

    @classmethod
    @refuses_by_name(KIND)
    def load(cls, path: str | Path) -> "FirstRound":
        """Open the first round of a blueprint.

        Args:
            path: directory of the artifact.

        Raises:
            ArtifactError: the artifact is missing or damaged.
        """
        artifact = open_artifact(path, KIND)
        first, *later = artifact.config["num_buckets"]
        tree, sampling = _stored_trees(artifact, (first, *(0 for _ in later)))
        strategy = stored_strategy(artifact, "strategy")
        decisions, size = tree.kind == Kind.DECISION, sampling.table_size // 2
        buckets = np.array(artifact.config["num_buckets"])[tree.street[decisions]]
        if strategy.size not in (size, int(tree.num_children[decisions] @ buckets)):
            raise CorruptArtifactError(f"{path} does not store the strategy of the first round, or of all")
        return cls(tree, sampling, strategy[:size], artifact.fingerprint)

    def probs(self, node: int) -> Singles:
        """Return the strategy at a node of the first round, over `tree.actions(node)`.

        Args:
            node: a decision node of the first round.

        Returns:
            float32 [B, A] by bucket (in hold'em by class of hands).
        """
        weights = self.sampling.entries(self.strategy, int(self.sampling.index[node])).astype(np.float32)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def quantised(self) -> NDArray[np.uint8]:
        """Return `strategy` in 8 bits, uint8 [entries]."""
        out = np.zeros(self.strategy.size, dtype=np.uint8)
        for node in np.flatnonzero((self.tree.kind == Kind.DECISION) & (self.tree.street == 0)):
            self.sampling.entries(out, int(self.sampling.index[node]))[:] = quantise(self.probs(int(node)), 8)
        return out


def blueprint_from(tree: BettingTree, cards: Buckets, average: Callable[[int], Singles], bits: int = 8) -> Blueprint:
    """Store a strategy as a blueprint.

    Args:
        average: function from a betting node to its strategy [B, A].
        bits: 8, 16 or 32 bits per probability.

    Raises:
        PokernetsError: the tree has a depth limit, or `bits` is invalid.
    """

    def averages(nodes: NDArray[np.int32]) -> Singles:
        return np.stack([average(int(node)) for node in nodes])

    sampling = sampling_tree(tree, cards.num_buckets)
    return Blueprint(tree, cards, sampling, strategy_table(sampling, averages, bits))


def always_call(tree: BettingTree, cards: Buckets, sampling: SamplingTree | None = None) -> Blueprint:
    """Return the policy that always checks or calls.

    Args:
        sampling: sampling tree of `tree`, if it exists already.
    """
    sampling = sampling or sampling_tree(tree, cards.num_buckets)

    def averages(nodes: NDArray[np.int32]) -> Singles:
        arity, buckets = int(tree.num_children[nodes[0]]), cards.num_buckets[int(tree.street[nodes[0]])]
        calls = tree.action[tree.first_child[nodes][:, None] + np.arange(arity)] == CALL
        return np.repeat(calls.astype(np.float32)[:, None], buckets, axis=1)

    return Blueprint(tree, cards, sampling, strategy_table(sampling, averages, bits=8))


def check_bits(bits: int) -> None:
    """Check that a strategy can be stored in this number of bits.

    Raises:
        PokernetsError: `bits` is not 8, 16 or 32.
    """
    if bits not in _DTYPES:
        raise PokernetsError(f"a strategy is stored in 8, 16 or 32 bits, not {bits}")


def strategy_table(sampling: SamplingTree, averages: Callable[[NDArray[np.int32]], Singles], bits: int) -> NDArray[Any]:
    """Compute `Blueprint.strategy` from a function.

    Args:
        sampling: placement of infosets.
        averages: function from betting nodes [K] of one street and number of actions to their strategies [K, B, A].
        bits: 8, 16 or 32 bits per probability.

    Returns:
        uint8, uint16 or float32 [entries].

    Raises:
        PokernetsError: `bits` is not 8, 16 or 32.
    """
    check_bits(bits)
    strategy = np.zeros(sampling.table_size // 2, dtype=_DTYPES[bits])
    origin = sampling.origin()
    for nodes in sampling.batches(_BATCH_ENTRIES):
        probs = averages(origin[nodes])
        places = sampling.starts(nodes)[:, :, None] + np.arange(probs.shape[2])
        strategy[places] = quantise(probs, bits)
    return strategy


def save_strategy(
    path: str | Path,
    strategy: NDArray[Any],
    cards: Buckets,
    rules: Rules,
    tree: BettingTree | None,
    config: dict[str, Any],
    counts: dict[str, Any],
) -> Artifact:
    """Write the artifact that `Blueprint.load` reads.

    Args:
        path: directory of the artifact.
        strategy: [entries] action weights.
        tree: the betting tree; None if `build_tree` can derive it from the rules alone.
        config: settings that produced the strategy.
        counts: counts such as the training time.
    """
    arrays = {} if tree is None else tree_arrays(tree)
    return write_artifact(
        path,
        KIND,
        config={
            **config,
            "rules": dataclasses.asdict(rules),
            "num_buckets": list(cards.num_buckets),
            "bits": strategy.itemsize * 8,
        },
        arrays={**arrays, "strategy": strategy},
        made_from={"abstraction": cards.fingerprint},
        counts=counts,
    )


def stored_strategy(artifact: Artifact, name: str, size: int | None = None) -> NDArray[Any]:
    """Read a strategy from an artifact.

    Args:
        artifact: the open artifact.
        name: name of the array.
        size: number of entries that it must have; None to accept any.

    Returns:
        uint8, uint16 or float32 [entries].

    Raises:
        ArtifactError: the array is missing or has the wrong size or type.
    """
    return np.asarray(artifact.array(name, (size,), dtypes=tuple(_DTYPES.values())))


def _stored_trees(artifact: Artifact, num_buckets: tuple[int, ...]) -> tuple[BettingTree, SamplingTree]:
    rules = rules_from(artifact.config["rules"])
    if f"{_TREE_PREFIX}kind" not in artifact.arrays:
        return _limit_trees(rules, num_buckets)
    size, players, most = len(artifact.array(f"{_TREE_PREFIX}kind", (None,))), rules.num_players, max(rules.stacks) + 1
    columns: dict[str, tuple[type[np.generic], tuple[float, float]]] = {
        "kind": (np.int8, (Kind.DECISION, Kind.LEAF)),
        "player": (np.int8, (-1, players)),
        "street": (np.int8, (0, rules.num_streets)),
        "parent": (np.int32, (-1, size)),
        "first_child": (np.int32, (-1, size)),
        "num_children": (np.int32, (0, size)),
        "action": (np.int32, (NO_ACTION, most)),
        "leaf_state": (np.int32, (-1, 0)),
        "leaf_choice": (np.int32, (-1, 0)),
        "committed": (np.int32, (0, most)),
        "folded": (np.bool_, (0, 2)),
    }
    arrays: dict[str, Any] = {}
    for name, (dtype, within) in columns.items():
        shape = (size, players) if name in ("committed", "folded") else (size,)
        arrays[name] = np.array(artifact.array(f"{_TREE_PREFIX}{name}", shape, dtypes=(dtype,), within=within))
    tree = BettingTree(rules=rules, **arrays)
    if not _is_sound(tree):
        raise CorruptArtifactError(f"{artifact.path} contains no betting tree of {rules.name}")
    return tree, sampling_tree(tree, num_buckets)


def _is_sound(tree: BettingTree) -> bool:
    """Return whether the arrays are a tree in breadth-first order with the players and streets of a hand.

    Every walk in such a tree ends.
    """
    size, children = len(tree), tree.num_children
    inner, nodes, above = children > 0, np.arange(size), tree.parent[1:]
    return (
        int(children.sum(dtype=np.int64)) == size - 1
        and np.array_equal(above, np.repeat(nodes, children))
        and np.array_equal(tree.first_child[inner], (1 + np.cumsum(children) - children)[inner])
        and bool((above < nodes[1:]).all())
        and np.array_equal(inner, np.isin(tree.kind, (Kind.DECISION, Kind.STREET)))
        and bool((children[tree.kind == Kind.STREET] == 1).all())
        and np.array_equal(tree.player >= 0, tree.kind == Kind.DECISION)
        and np.array_equal(tree.street[1:], tree.street[above] + (tree.kind[above] == Kind.STREET))
    )


@lru_cache(maxsize=1)
def _limit_trees(rules: Rules, num_buckets: tuple[int, ...]) -> tuple[BettingTree, SamplingTree]:
    """Return the whole betting tree of a limit game; one is cached, since snapshots of one run share it."""
    tree = build_tree(Betting.start(rules))
    return tree, sampling_tree(tree, num_buckets)


def quantise(probs: Singles, bits: int) -> NDArray[Any]:
    """Round probabilities to integers with a fixed sum.

    Args:
        probs: float32 [..., A] probabilities; rows sum to 1.
        bits: 8, 16 or 32.

    Returns:
        [..., A] integers that sum to 2^bits - 1 in every row. Each is within 1 of its share, except for the largest.
        With 32 bits the float32 probabilities.
    """
    if bits == 32:
        return probs.astype(np.float32)
    top = 2**bits - 1
    rounded = np.floor(probs.astype(np.float64) * top + 0.5).astype(np.int64)
    # the error of rounding is at most A / 2 and the largest entry at least top / A
    largest = probs.argmax(axis=-1, keepdims=True)
    missing = top - rounded.sum(axis=-1, keepdims=True)
    np.put_along_axis(rounded, largest, np.take_along_axis(rounded, largest, axis=-1) + missing, axis=-1)
    return np.asarray(np.maximum(rounded, 0).astype(_DTYPES[bits]))


def action_classes(actions: NDArray[np.int32]) -> NDArray[np.int8]:
    """Return the class of each action.

    Args:
        actions: int32 [A] actions.

    Returns:
        int8 [A] FOLD_CLASS, CALL_CLASS or RAISE_CLASS.
    """
    return np.where(actions == FOLD, FOLD_CLASS, np.where(actions == CALL, CALL_CLASS, RAISE_CLASS)).astype(np.int8)


def bias_of(kind: str, factor: float) -> tuple[float, float, float]:
    """Return the multipliers by class of action of a continuation.

    Args:
        kind: one of `CONTINUATIONS`; the first is the blueprint, whose multipliers are all 1.
        factor: multiplier of the favoured class.

    Raises:
        PokernetsError: there is no such continuation.
    """
    if kind not in CONTINUATIONS:
        raise PokernetsError(f"unknown continuation '{kind}': choose from {', '.join(CONTINUATIONS)}")
    favoured = CONTINUATIONS.index(kind) - 1
    fold, call, raised = (factor if favoured == action_class else 1.0 for action_class in range(3))
    return fold, call, raised


def tree_fingerprint(tree: BettingTree) -> str:
    """Return a hash that changes with the game or with any node of the tree."""
    arrays = {name.removeprefix(_TREE_PREFIX): array for name, array in tree_arrays(tree).items()}
    parts: dict[str, Any] = {"rules": dataclasses.asdict(tree.rules), **arrays}
    digest, opening = hashlib.sha256(), "{"
    for name in sorted(parts):  # equals `fingerprint_of` with arrays as hexadecimal text, but works in pieces
        value, begin = parts[name], f'{opening}"{name}":'
        if isinstance(value, np.ndarray):
            digest.update(f'{begin}"'.encode())
            data = value.tobytes()
            for start in range(0, len(data), _HEX_BYTES):
                digest.update(data[start : start + _HEX_BYTES].hex().encode())
            digest.update(b'"')
        else:
            digest.update(f"{begin}{canonical_json(value)}".encode())
        opening = ","
    digest.update(b"}")
    return digest.hexdigest()


def tree_arrays(tree: BettingTree) -> dict[str, NDArray[Any]]:
    """Return the arrays of the tree by their names in artifacts; shapes are as in `BettingTree`, such as [N]."""
    fields = {field.name: getattr(tree, field.name) for field in dataclasses.fields(tree)}
    return {f"{_TREE_PREFIX}{name}": value for name, value in fields.items() if isinstance(value, np.ndarray)}
