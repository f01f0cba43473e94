"""The exported net answers like the net that was trained, and refuses what it was not made for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from safetensors.torch import load_file

from models.leaf import runner as leaf_runner
from models.leaf.runner import CHUNK_ROWS, LeafRunner, encode_grid
from models.training.export import WEIGHTS, Architecture, describe, export_net, load_net
from models.training.inference import LEAF_NET, LeafNet, leaf_stamp
from models.training.mlp import Mlp
from poker.depth_limit import inputs
from poker.game.betting import Betting
from poker.run.errors import PokernetsError
from poker.solve.torch.device import torch_device
from poker.solvers import blueprint
from poker.solvers.blueprint import CONTINUATIONS
from poker.store.artifacts import (
    Artifact,
    CorruptArtifactError,
    MismatchedArtifactError,
    MissingArtifactError,
    open_artifact,
    write_artifact,
)
from tests.artifacts import write_leaf_net
from tests.devices import CUDA
from tests.games import load_rules

LEAF_STAMP = leaf_stamp(CONTINUATIONS)
MLP = Architecture(Mlp, inputs=inputs.SIZE, hidden=[256, 128, 128, 128], outputs=4, seed=11, standardise=True)


class Tilted(torch.nn.Module):
    """A net of somebody else."""

    def __init__(self, tilt: float) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(inputs.SIZE, 4)
        self.tilt = tilt

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = torch.tanh(self.linear(features)) * self.tilt
        return values


@pytest.fixture(scope="module")
def net() -> Mlp:
    made = MLP()
    assert isinstance(made, Mlp)
    for offset in (0, 2):  # rows to standardise by
        made(torch.rand(64, inputs.SIZE, generator=torch.Generator().manual_seed(offset)) + offset)
    return made.eval()


@pytest.fixture(scope="module")
def exported(net: Mlp, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("net") / "leaf_net"
    write_leaf_net(path, MLP, net, x=1)
    return path


@pytest.mark.parametrize("processes", [False, True])
def test_inputs_are_standardised_by_the_means_of_all_batches(tmp_path: Path, processes: bool) -> None:
    net, generator = Mlp(3, [4], 1, standardise=True), torch.Generator().manual_seed(0)
    batches = [torch.randn(50, 3, generator=generator) * size + size for size in (1, 4, 9)]
    if processes:
        torch.distributed.init_process_group("gloo", f"file://{tmp_path}/group", rank=0, world_size=1)
    try:
        for batch in batches:
            net(batch)
    finally:
        if processes:
            torch.distributed.destroy_process_group()
    for name, expected in (("mean", [b.mean(0) for b in batches]), ("var", [b.var(0) for b in batches])):
        torch.testing.assert_close(getattr(net.seen, f"running_{name}"), torch.stack(expected).mean(0))


def test_a_net_that_is_replaced_while_it_is_read_is_refused(
    net: Mlp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "leaf_net"

    def export(seed: int) -> None:
        write_leaf_net(path, MLP, net, seed=seed)

    def replaced(weights: Path) -> dict[str, torch.Tensor]:
        export(2)
        return load_file(weights)

    export(1)
    monkeypatch.setattr(safetensors.torch, "load_file", replaced)
    with pytest.raises(MismatchedArtifactError, match="was replaced while it was read"):
        load_net(path, LEAF_NET, stamp=LEAF_STAMP)


def test_a_net_of_another_blueprint_is_refused_by_name(net: Mlp, exported: Path, tmp_path: Path) -> None:
    def artifact(name: str, **made_from: str) -> Artifact:
        return write_artifact(tmp_path / name, blueprint.KIND, config={"name": name}, arrays={}, made_from=made_from)

    one, other = artifact("one"), artifact("other")
    part = artifact("part", whole_blueprint=one.fingerprint)
    path = tmp_path / "leaf_net"
    made_from = {"blueprint": one.fingerprint}
    export_net(path, LEAF_NET, MLP, net, stamp=LEAF_STAMP, config={}, made_from=made_from, counts={})
    for fitting in (one.path, part.path, tmp_path / "nothing", None):
        LeafNet(path, blueprint=fitting)
    with pytest.raises(MismatchedArtifactError, match="leaf_net was trained on the values of a blueprint other"):
        LeafNet(path, blueprint=other.path)
    LeafNet(exported, blueprint=other.path)  # which does not tell its blueprint


@pytest.mark.parametrize("bfloat16", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 7, CHUNK_ROWS, 2 * CHUNK_ROWS + 5])
def test_exported_net_equals_the_trained_one(net: Mlp, exported: Path, bfloat16: bool, rows: int) -> None:
    """To rounding; torch has as many threads afterwards as before."""
    threads = torch.get_num_threads()
    features = np.random.default_rng(rows).normal(size=(rows, inputs.SIZE)).astype(np.float32)
    with torch.no_grad():
        wanted = net.double()(torch.from_numpy(features).double()).numpy()
    net.float()
    values = LeafRunner(load_net(exported, LEAF_NET, stamp=LEAF_STAMP), bfloat16=bfloat16).values(features)
    assert values.dtype == np.float32
    assert values.shape == (rows, 4)
    np.testing.assert_allclose(values, wanted, atol=0.25 if bfloat16 else 1e-4)  # of values up to 20
    assert torch.get_num_threads() == threads


def test_read_only_and_strided_rows_are_taken_and_left_alone(exported: Path) -> None:
    net = LeafNet(exported)
    whole = np.random.default_rng(0).random((100, inputs.SIZE + 3), dtype=np.float32)
    view = whole[::2, 1 : 1 + inputs.SIZE]
    frozen = view.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(net.values(view), net.values(frozen))
    np.testing.assert_array_equal(view, frozen)
    with pytest.raises(ValueError, match=r"the net takes \[n, 34\]"):
        net.values(whole)


def test_equal_nets_are_equal_files(net: Mlp, exported: Path, tmp_path: Path) -> None:
    """safetensors alone writes two entries of metadata in either order."""
    settings: dict[str, Any] = {"stamp": LEAF_STAMP, "config": {"x": 1}, "made_from": {}, "counts": {}}
    again = [export_net(tmp_path / str(number), LEAF_NET, MLP, net, **settings) for number in range(8)]
    assert {made.fingerprint for made in again} == {open_artifact(exported, LEAF_NET).fingerprint}
    for name, tensor in load_file(again[0].path / WEIGHTS).items():
        assert torch.equal(tensor, net.state_dict()[name]), name


def test_a_net_of_other_features_is_refused(net: Mlp, exported: Path, tmp_path: Path) -> None:
    other = {**LEAF_STAMP, "feature_hash": "0" * 16}
    export_net(tmp_path / "other", LEAF_NET, MLP, net, stamp=other, config={}, made_from={}, counts={})
    with pytest.raises(MismatchedArtifactError, match=r"feature_hash='0000000000000000'.*train\.py model=leaf"):
        LeafNet(tmp_path / "other")
    with pytest.raises(MismatchedArtifactError, match="target"):
        load_net(exported, LEAF_NET, stamp={**LEAF_STAMP, "target": "something else"})
    with pytest.raises(MissingArtifactError, match=r"train\.py model=leaf"):
        LeafNet(tmp_path / "nothing")


def test_a_weight_that_is_not_finite_is_neither_written_nor_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, settings = MLP(), {"stamp": LEAF_STAMP, "config": {}, "made_from": {}, "counts": {}}
    with torch.no_grad():
        broken.get_parameter("layers.1.bias")[2] = torch.nan
    with pytest.raises(PokernetsError, match=r"net is not written, because layers\.1\.bias of the trained net"):
        export_net(tmp_path / "net", LEAF_NET, MLP, broken, **settings)
    with monkeypatch.context() as patched:
        patched.setattr("models.training.export._not_finite", lambda tensors: "")
        export_net(tmp_path / "net", LEAF_NET, MLP, broken, **settings)
    with pytest.raises(CorruptArtifactError, match=r"net\.safetensors: layers\.1\.bias is not finite\. Move "):
        LeafNet(tmp_path / "net")


def test_a_net_of_any_class_plays_where_the_configuration_names_it(tmp_path: Path) -> None:
    architecture = Architecture(Tilted, tilt=0.5)
    net = architecture()
    write_leaf_net(tmp_path / "net", architecture, net)
    name = f"{__name__}.Tilted"
    with pytest.raises(MismatchedArtifactError, match=rf"contains a {name}.*architectures=\[{name}\]"):
        LeafNet(tmp_path / "net")
    features = np.random.default_rng(0).random((50, inputs.SIZE), dtype=np.float32)
    values = LeafNet(tmp_path / "net", architectures=[name]).values(features)
    np.testing.assert_allclose(values, net(torch.from_numpy(features)).detach(), atol=5e-3)


def test_loading_imports_nothing_that_the_file_names(net: Mlp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "intruder.py").write_text("raise SystemExit('ran')\n")
    monkeypatch.syspath_prepend(tmp_path)
    forgeries: dict[str, tuple[dict[str, Any], type[Exception]]] = {
        "other": ({"_target_": "intruder.Net"}, MismatchedArtifactError),
        "ours_but_no_net": ({"_target_": "models.training.export.export_net"}, CorruptArtifactError),
        "missing": ({"_target_": "models.nowhere.Net"}, CorruptArtifactError),
        "of_impossible_sizes": ({"inputs": 0}, CorruptArtifactError),
    }
    for name, (forged, error) in forgeries.items():
        description = {**describe(MLP), **forged}
        with monkeypatch.context() as patched:
            patched.setattr("models.training.export.describe", lambda _, description=description: description)
            write_leaf_net(tmp_path / name, MLP, net)
        with pytest.raises(error, match=str(description["_target_"])):
            LeafNet(tmp_path / name)


def test_making_a_net_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(4)
    before = torch.random.get_rng_state()
    first, again, other = Mlp(3, [5], 2, seed=1), Mlp(3, [5], 2, seed=1), Mlp(3, [5], 2, seed=2)
    assert torch.equal(torch.random.get_rng_state(), before)
    weights = [net.layers[0].get_parameter("weight") for net in (first, again, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_a_perceptron_has_relu_between_its_layers_and_weights_within_kaiming_s_bounds() -> None:
    net, features = Mlp(3, [50, 40], 2, seed=1), torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    expected, last = features, net.layers[-1]
    for layer in net.layers:
        weight, bias = layer.get_parameter("weight"), layer.get_parameter("bias")
        bound = ((3 if layer is last else 6) / weight.shape[1]) ** 0.5
        assert 0.9 * bound < weight.abs().max() <= bound
        assert not bias.any()
        expected = expected @ weight.T if layer is last else (expected @ weight.T).clamp(min=0)
    torch.testing.assert_close(net(features), expected)


def test_a_net_gives_as_many_values_as_it_was_trained_for(tmp_path: Path) -> None:
    architecture = Architecture(Mlp, inputs=inputs.SIZE, hidden=[8], outputs=10, seed=1)
    names = ("blueprint", *(f"response_{k}" for k in range(1, 10)))
    stamp = leaf_stamp(names)
    export_net(tmp_path / "n", LEAF_NET, architecture, architecture(), stamp=stamp, config={}, made_from={}, counts={})
    net = LeafNet(tmp_path / "n")
    assert net.num_continuations == 10
    assert net.values(np.zeros((3, inputs.SIZE), np.float32)).shape == (3, 10)


def test_grids_go_in_smaller_chunks_once_memory_has_run_out(
    net: Mlp, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(4)
    width = len(inputs.HAND_NAMES)
    shapes = (64, width), (64, width), (64, 64, 2), (4,)
    parts = inputs.GridParts(*(rng.random(shape, dtype=np.float32) for shape in shapes))
    grids = [(parts, rng.random((6, 6), dtype=np.float32))]
    runner = LeafRunner(net, device="torch")
    [expected], forward, most = runner.grid_values(grids), runner._forward, 1 << 13

    def small(rows: torch.Tensor) -> torch.Tensor:
        if len(rows) > most:
            raise torch.OutOfMemoryError
        return forward(rows)

    monkeypatch.setattr(runner, "_forward", small)
    for _ in range(2):
        np.testing.assert_allclose(runner.grid_values(grids)[0], expected, atol=1e-6)
    assert capsys.readouterr().err.count("ran out of memory") == 1
    most = 0
    with pytest.raises(torch.OutOfMemoryError):
        runner.grid_values(grids)


@pytest.mark.parametrize("device", ["torch", CUDA])
def test_grids_on_a_device_are_encoded_and_valued_as_on_the_cpu(
    exported: Path, monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    """Rows are the same, values to rounding, whatever the chunks."""
    monkeypatch.setattr("torch.cpu.get_capabilities", dict)
    rng = np.random.default_rng(3)
    rules = load_rules("holdem_nolimit_2p")
    leaves = [Betting.parse(rules, text) for text in ("r300c/cc/", "r300c/r900c/", "cc/r200r700c/")]
    plain, grids, expected = LeafNet(exported), [], []
    for own, (n, m) in enumerate(((5, 7), (4, 4))):
        shapes = (n, len(inputs.HAND_NAMES)), (m, len(inputs.HAND_NAMES)), (n, m, 2), (4,)
        parts = inputs.GridParts(*(rng.random(shape, dtype=np.float32) for shape in shapes))
        parts.texture.setflags(write=False)  # as that of a board
        betting = np.stack([inputs.public_features(state, own) for state in leaves])
        rows = [row.copy() for row in inputs.grid_rows(parts, betting)]
        encoded = encode_grid(parts, betting, torch_device(device))
        np.testing.assert_array_equal(encoded.cpu().numpy(), np.concatenate(rows))
        grids.append((parts, betting))
        np.testing.assert_array_equal(plain.grid_values(grids[-1:])[0], np.stack([plain.values(each) for each in rows]))
        expected.append(np.stack([plain.values(each) for each in rows]))
    for chunk in (1 << 18, 10):
        monkeypatch.setattr(leaf_runner, "DEVICE_ROWS", chunk)
        on_device = LeafNet(exported, device=device)
        valued = on_device.grid_values(grids)
        assert [values.shape for values in valued] == [(3, 35, 4), (3, 16, 4)]
        for one, other in zip(valued, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)
        np.testing.assert_allclose(on_device.values(rows[0]), plain.values(rows[0]), atol=1e-5)
    assert on_device.grid_values([]) == []
    if not torch.cuda.is_available():
        with pytest.raises(PokernetsError, match="finds no CUDA device"):
            LeafNet(exported, device="cuda")
