"""Forged artifacts under manifests that match themselves: used where nothing is missing, else refused in one line."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from models.leaf.data import LeafColumns
from models.opponent.inference import OPPONENT_NET, PLAYERS, POPULATION, STAMP, OpponentNet
from models.opponent.nets import SmallNet
from models.opponent.record import TRAINED, NetRecord
from models.training.export import Architecture, export_net
from models.training.inference import LeafNet
from poker.abstraction.buckets import CardAbstraction, SmallGameBuckets, make_abstraction
from poker.depth_limit.continuations.forms import SelfGenerated, save_forms
from poker.depth_limit.leaves.leaf_table import LeafTable
from poker.game.betting import Betting
from poker.kernels.cards.isomorphism import NUM_BOARDS
from poker.opponents.inputs import rows as action_rows
from poker.opponents.limit.preflop import IncomeRates
from poker.run.atomic import MANIFEST
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import CONTINUATIONS, Blueprint, FirstRound
from poker.spots.solution import load_solution
from poker.spots.spots import spot_of
from poker.store.artifacts import file_sha256, fingerprint_of, fingerprint_of_settings, write_artifact
from poker.tree import bet_menu, build_tree
from tests.artifacts import write_blueprint, write_leaf_net, write_leaf_table
from tests.blueprints import random_blueprint
from tests.games import load_rules
from tests.models.shards import write_leaf_states

DEEP: Any = 1
for _ in range(600):
    DEEP = [DEEP]
FORGERIES: tuple[Any, ...] = (None, 7, -1, 1e300, True, "x", [], [None], {}, {"x": 1}, DEEP, 10**40, "x" * 100_000)
TYPES: dict[str, Any] = {"stamp": STAMP, "made_from": {"opponent_actions": "0" * 64}}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small artifacts of every kind."""
    folder = tmp_path_factory.mktemp("made")
    write_leaf_net(folder / "leaf_net", seed=1)
    write_blueprint(
        folder, bet_menu(preflop=[[1], []], flop=[["a"]]), CardAbstraction((), (169, 1, 1, 1), "none"), seed=1
    )
    write_leaf_table(folder, continuations=list(CONTINUATIONS), bias_factor=10.0, seed=1)
    tables = [np.zeros((NUM_BOARDS[cards], 1326), np.uint8) for cards in (0, 3)]
    make_abstraction(tables, (169, 8)).save(folder / "abstraction", {"seed": 1})
    trained = {"first": 0, "last": 9, "source": {"source": "irc"}}
    counts = {POPULATION: np.full((12, 3), 1 / 3).tolist(), PLAYERS: ["ann"], TRAINED: trained}
    config = {"data": {"test_share": 0.2}}
    small = Architecture(SmallNet)
    export_net(folder / "opponent_net", OPPONENT_NET, small, small(), config=config, counts=counts, **TYPES)
    write_leaf_states(folder / "leaf_states", rows=20, shards=1)
    IncomeRates(*np.zeros((5, 9, 169))).save(folder / "preflop_rollouts", {"deals": 1})
    _write_others(folder)
    return folder


def _write_others(folder: Path) -> None:
    """Artifacts that commands read and agents do not: rows of training, continuations, a solved spot."""
    rows = {name: np.zeros((20, *shape), dtype) for name, (dtype, shape, *_) in action_rows.COLUMNS.items()}
    action_rows.write_rows(folder / "opponent_actions", rows, ["ann", "bob"], config={}, made_from={}, counts={})
    kuhn = load_rules("kuhn")
    policy = random_blueprint(build_tree(Betting.start(kuhn)), SmallGameBuckets(kuhn))
    policy.save(folder / "kuhn", {}, {})
    blueprint = Blueprint.load(folder / "kuhn", policy.cards)
    save_forms(folder / "continuation_forms", [blueprint, policy], {"pot_fraction": 0.0}, {})
    text = {"board": "QsTs2d3c4h", "oop_range": "AA,KK", "ip_range": "QQ,JJ", "pot": 10, "stack": 20, "bet": "100%"}
    spot = spot_of(text)
    solved = np.zeros(spot.game().num_entries, np.float16)
    write_artifact(folder / "spot_solution", "spot_solution", config={"spot": text}, arrays={"strategy": solved})


def _forms(path: Path) -> object:
    policy = Blueprint.load(path.parent / "kuhn", SmallGameBuckets(load_rules("kuhn")))
    return SelfGenerated(str(path)).of(policy)


Reader = Callable[[Path], object]
READERS: dict[str, Reader] = {
    "abstraction": CardAbstraction.load,
    "blueprint": FirstRound.load,
    "leaf_net": LeafNet,
    "leaf_table": lambda path: LeafTable.load(path, FirstRound.load(path.parent / "blueprint")),
    "opponent_net": lambda path: (OpponentNet(path), NetRecord.read(path, "net")),
    "leaf_states/shard-00000": lambda path: LeafColumns(str(path.parent)),
    "preflop_rollouts": IncomeRates.load,
    "opponent_actions": action_rows.open_rows,
    "continuation_forms": _forms,
    "kuhn": lambda path: Blueprint.load(path, SmallGameBuckets(load_rules("kuhn"))),
    "spot_solution": load_solution,
}


def _forgeries(node: Any) -> Iterator[Any]:
    """Copies of a manifest with each key at any depth left out or given one of `FORGERIES`."""
    if not isinstance(node, dict | list):
        return
    for key in list(node) if isinstance(node, dict) else range(min(len(node), 2)):
        if isinstance(node, dict):
            yield {name: value for name, value in node.items() if name != key}
        for value in [*FORGERIES, *_forgeries(node[key])]:
            copy = dict(node) if isinstance(node, dict) else list(node)
            copy[key] = value
            yield copy


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    """Artifacts that a test may change."""
    shutil.copytree(made, tmp_path / "made")
    return tmp_path / "made"


def _seal(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a manifest that matches its own fingerprint."""
    body = {key: value for key, value in manifest.items() if key != "fingerprint"}
    (folder / MANIFEST).write_text(json.dumps({**body, "fingerprint": fingerprint_of(body)}))


def _refused(read: Reader, path: Path) -> bool:
    """Whether the artifact is refused, which takes one short line that names the place."""
    try:
        read(path)
    except PokernetsError as error:
        message = str(error)
    else:
        return False
    assert "\n" not in message
    assert str(path) in message
    assert len(message) < 1000
    return True


@pytest.mark.parametrize("name", READERS)
def test_manifests_of_other_contents_are_used_or_refused_by_name(made: Path, name: str) -> None:
    path = made / name
    text = (path / MANIFEST).read_text()
    total = refused = 0
    try:
        for forged in _forgeries(json.loads(text)):
            _seal(path, forged)
            refused += _refused(READERS[name], path)
            total += 1
    finally:
        (path / MANIFEST).write_text(text)
    READERS[name](path)
    assert total > refused > 20


@pytest.mark.parametrize("name", READERS)
def test_arrays_of_other_shapes_are_refused_by_name(copied: Path, name: str) -> None:
    """Each array in turn: a row less, a column less, none, of another rank; and left out of the manifest."""
    path = copied / name
    manifest = json.loads((path / MANIFEST).read_text())
    for file in [path / each for each in manifest["files"]]:
        entries = {other: entry for other, entry in manifest["files"].items() if other != file.name}
        _seal(path, {**manifest, "files": entries})
        assert _refused(READERS[name], path) or file.name == "sem.npy", f"without {file.name}"
        if file.suffix != ".npy":
            continue
        array, data = np.load(file), file.read_bytes()
        for other in (array[:-1], array[:0], array[None], array[..., :-1], np.array(array.flat[0])):
            if file.name == "clusters.npy" and other.ndim == 1:
                continue  # of how many hands they are says the game, which refuses other numbers
            _replace(path, manifest, file.name, other)
            assert _refused(READERS[name], path), f"{file.name}: {array.shape} as {other.shape}"
        file.write_bytes(data)


def _replace(path: Path, manifest: dict[str, Any], name: str, array: NDArray[Any]) -> None:
    """Put another array in the place of one, under a manifest that lists it."""
    file = path / name
    np.save(file, array)
    entry = {"bytes": file.stat().st_size, "sha256": file_sha256(file)}
    _seal(path, {**manifest, "files": {**manifest["files"], name: entry}})


INDEXES: dict[str, dict[str, int]] = {
    "abstraction": {"street_0": 169, "street_1": 8},
    "blueprint": {
        **{"tree_kind": 4, "tree_player": 2, "tree_street": 4, "tree_parent": 10**7, "tree_first_child": 10**7},
        **{"tree_num_children": 2**30, "tree_action": 10**9, "tree_leaf_state": 2**31 - 2, "tree_leaf_choice": 0},
        **{"tree_committed": 10**9},
    },
    "leaf_table": {"nodes": 10**7},
    "leaf_states/shard-00000": {"seat": 12, "street": 4},
    "opponent_actions": {**{"action": 9, "street": 4, "bets": 3, "player": 2, "seat": 12, "board": 52, "spot": 360}},
}
"""The least value above those that an index of each array may have."""


@pytest.mark.parametrize(("name", "array"), [(name, array) for name, arrays in INDEXES.items() for array in arrays])
def test_indexes_out_of_range_are_refused_by_name(copied: Path, name: str, array: str) -> None:
    """Kernels do not check: buckets of 250 where there are 8 made them write beyond their tables."""
    path = copied / name
    manifest, held = json.loads((path / MANIFEST).read_text()), np.load(path / f"{array}.npy")
    for value in (INDEXES[name][array], *([int(np.iinfo(held.dtype).min)] if held.dtype.kind == "i" else [])):
        forged = held.copy()
        forged.flat[held.size // 2] = value
        _replace(path, manifest, f"{array}.npy", forged)
        assert _refused(READERS[name], path), value


@pytest.mark.parametrize(("array", "value"), [("player", -1), ("street", 1)])
def test_trees_of_no_hand_are_refused(copied: Path, array: str, value: int) -> None:
    """A first decision that is nobody's, or that follows no deal."""
    path = copied / "blueprint"
    manifest, held = json.loads((path / MANIFEST).read_text()), np.load(path / f"tree_{array}.npy")
    held[0] = value
    _replace(path, manifest, f"tree_{array}.npy", held)
    assert _refused(READERS["blueprint"], path)


def test_a_spot_with_a_larger_tree_than_its_solution_is_not_built(copied: Path) -> None:
    path = copied / "spot_solution"
    manifest = json.loads((path / MANIFEST).read_text())
    manifest["config"]["spot"] |= {"board": "QsTs2d", "stack": 100_000, "bet": "10%,20%,30%,40%", "raise": "2x,2.1x"}
    _seal(path, manifest)
    started = time.monotonic()
    assert _refused(READERS["spot_solution"], path)
    assert time.monotonic() - started < 20


def test_names_that_no_file_system_takes_are_refused(copied: Path) -> None:
    path = copied / "abstraction"
    manifest = json.loads((path / MANIFEST).read_text())
    entry = {"bytes": 1, "sha256": "0" * 64}
    _seal(path, {**manifest, "files": {**manifest["files"], "x" * 300: entry}})
    assert _refused(READERS["abstraction"], path)
    assert fingerprint_of_settings({"range": "x" * 300})
    with pytest.raises(PokernetsError, match="no abstraction at"):
        CardAbstraction.load("x" * 300)


@pytest.mark.parametrize("name", READERS)
def test_a_manifest_without_files_is_refused(copied: Path, name: str) -> None:
    path = copied / name
    _seal(path, {**json.loads((path / MANIFEST).read_text()), "files": {}})
    assert _refused(READERS[name], path)
