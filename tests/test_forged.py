"""Forged artifacts under manifests that match themselves: used where nothing is missing, else refused in one line."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.export import Architecture, export_net
from models.inference import LeafNet
from models.leaf_data import Columns
from models.opponent_inference import OPPONENT_NET, PLAYERS, POPULATION, STAMP, OpponentNet
from models.opponent_nets import SmallNet
from models.opponent_record import TRAINED, NetRecord
from models.range_net import RangeNet
from poker.abstraction.buckets import CardAbstraction, make_abstraction
from poker.artifacts import MANIFEST, file_sha256, fingerprint_of
from poker.bundle import open_bundle
from poker.errors import PokernetsError
from poker.kernels.cards.isomorphism import NUM_BOARDS
from poker.opponents.preflop import IncomeRates
from poker.solvers.blueprint import FirstRound
from poker.solvers.rollout.leaf_table import LeafTable
from tests.games import CONF
from tests.models.shards import write_leaf_states

BUNDLE = CONF.parent / "models" / "trained" / "laptop.bundle"
DEEP: Any = 1
for _ in range(600):
    DEEP = [DEEP]
FEW: tuple[Any, ...] = (None, DEEP)
FORGERIES: tuple[Any, ...] = (None, 7, -1, 1e300, True, "x", [], [None], {}, {"x": 1}, DEEP, 10**40, "x" * 100_000)
TYPES: dict[str, Any] = {"stamp": STAMP, "made_from": {"opponent_actions": "0" * 64}}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Artifacts of a real bundle, and some that bundles do not have."""
    folder = tmp_path_factory.mktemp("made")
    for name in ("blueprint", "leaf_net", "leaf_table", "range_net/end_of_turn"):
        shutil.copytree(open_bundle(BUNDLE).path / name, folder / name)
    tables = [np.zeros((NUM_BOARDS[cards], 1326), np.uint8) for cards in (0, 3)]
    make_abstraction(tables, (1, 1)).save(folder / "abstraction", {"seed": 1})
    trained = {"first": 0, "last": 9, "source": {"source": "irc"}}
    counts = {POPULATION: np.full((12, 3), 1 / 3).tolist(), PLAYERS: ["ann"], TRAINED: trained}
    config = {"data": {"test_share": 0.2}}
    small = Architecture(SmallNet)
    export_net(folder / "opponent_net", OPPONENT_NET, small, small(), config=config, counts=counts, **TYPES)
    write_leaf_states(folder / "leaf_states", rows=20, shards=1)
    IncomeRates(*np.zeros((5, 9, 169))).save(folder / "preflop_rollouts", {"deals": 1})
    return folder


Reader = Callable[[Path], object]
READERS: dict[str, Reader] = {
    "abstraction": CardAbstraction.load,
    "blueprint": FirstRound.load,
    "leaf_net": LeafNet,
    "leaf_table": lambda path: LeafTable.load(path, FirstRound.load(path.parent / "blueprint")),
    "opponent_net": lambda path: (OpponentNet(path), NetRecord.read(path, "net")),
    "leaf_states/shard-00000": lambda path: Columns(str(path.parent)),
    "preflop_rollouts": IncomeRates.load,
    "range_net/end_of_turn": lambda path: RangeNet(path, "end_of_turn"),
}
SLOW = ("blueprint", "leaf_table", "leaf_net")


def _forgeries(node: Any, values: Sequence[Any]) -> Iterator[Any]:
    """Copies of a manifest with each key at any depth left out or given one of `values`."""
    if not isinstance(node, dict | list):
        return
    for key in list(node) if isinstance(node, dict) else range(min(len(node), 2)):
        if isinstance(node, dict):
            yield {name: value for name, value in node.items() if name != key}
        for value in [*values, *_forgeries(node[key], values)]:
            copy = dict(node) if isinstance(node, dict) else list(node)
            copy[key] = value
            yield copy


def _seal(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a manifest that matches its own fingerprint."""
    body = {key: value for key, value in manifest.items() if key != "fingerprint"}
    (folder / MANIFEST).write_text(json.dumps({**body, "fingerprint": fingerprint_of(body)}))


def _refused(read: Reader, path: Path) -> bool:
    """Whether the artifact is refused, which takes one short line that names the place."""
    try:
        read(path)
    except PokernetsError as error:
        told = str(error)
    else:
        return False
    assert "\n" not in told
    assert str(path) in told
    assert len(told) < 1000
    return True


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *[(name, FEW) for name in READERS if name not in SLOW],
        *[pytest.param(name, FORGERIES, marks=pytest.mark.slow) for name in READERS],
    ],
)
def test_manifests_of_other_contents_are_used_or_refused_by_name(made: Path, name: str, values: Sequence[Any]) -> None:
    path = made / name
    text = (path / MANIFEST).read_text()
    total = refused = 0
    try:
        for forged in _forgeries(json.loads(text), values):
            _seal(path, forged)
            refused += _refused(READERS[name], path)
            total += 1
    finally:
        (path / MANIFEST).write_text(text)
    READERS[name](path)
    assert total > refused > 20


@pytest.mark.parametrize("name", READERS)
def test_arrays_of_other_shapes_are_refused_by_name(made: Path, name: str, tmp_path: Path) -> None:
    """Each array in turn: a row less, a column less, none, of another rank; and left out of the manifest."""
    shutil.copytree(made, tmp_path / "made")
    path = tmp_path / "made" / name
    manifest = json.loads((path / MANIFEST).read_text())
    for file in [path / each for each in manifest["files"]]:
        kept = {other: entry for other, entry in manifest["files"].items() if other != file.name}
        _seal(path, {**manifest, "files": kept})
        assert _refused(READERS[name], path) or file.name == "sem.npy", f"without {file.name}"
        if file.suffix != ".npy":
            continue
        array, data = np.load(file), file.read_bytes()
        for other in (array[:-1], array[:0], array[None], array[..., :-1], array.sum()):
            if name == "blueprint" and file.name == "strategy.npy" and other.size >= array.size:
                continue  # its entries are in a row whatever the rank
            np.save(file, other)
            entry = {"bytes": file.stat().st_size, "sha256": file_sha256(file)}
            _seal(path, {**manifest, "files": {**manifest["files"], file.name: entry}})
            assert _refused(READERS[name], path), f"{file.name}: {array.shape} as {other.shape}"
        file.write_bytes(data)


def test_a_manifest_without_files_is_refused(made: Path, tmp_path: Path) -> None:
    for name, read in READERS.items():
        shutil.copytree(made, tmp_path / name.replace("/", "-"))
        path = tmp_path / name.replace("/", "-") / name
        _seal(path, {**json.loads((path / MANIFEST).read_text()), "files": {}})
        assert _refused(read, path), name
