"""Opponent nets: inputs at the table equal those of the rows, nets learn, adapt and survive export."""

import csv
import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from data_gen.opponent_actions import ActionRows
from data_gen.support.sources import ObservedHand
from models.opponent.data import OpponentData, OpponentRows
from models.opponent.inference import OPPONENT_NET, POPULATION, STAMP, NetPrior, OpponentNet, load_opponent_net
from models.opponent.inputs import INPUT_SIZES, Inputs
from models.opponent.module import OpponentModule, score
from models.opponent.nets import OpponentBatch, SmallNet, WideNet
from models.opponent.shares import hands_before
from models.opponent.table import bootstrap
from models.training.export import Architecture, export_net
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, parse_cards
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState
from poker.opponents.habits import Habits
from poker.opponents.inputs import history
from poker.opponents.inputs.limit import NAMES
from poker.opponents.inputs.rows import write_rows
from poker.opponents.model import Predictor, context_of, sized_class
from poker.run.errors import PokernetsError
from poker.store.artifacts import MismatchedArtifactError, open_artifact
from tests.commands import call_here
from tests.games import load_rules

PLAYERS = 12


def habits(player: int, faced: bool) -> tuple[float, float]:
    """(fold, raise) probabilities: every other player is wild, the others are timid."""
    wild = player % 2 == 0
    return (0.1 if wild else 0.7) * faced, 0.5 if wild else 0.1


def play(hands: int, seed: int, game: str = "holdem_limit_3p") -> list[ObservedHand]:
    """Hands among players whose habits do not depend on their cards; raises are the largest, or in turns the least."""
    rules, generator = load_rules(game), np.random.default_rng(seed)
    observed = []
    for number in range(hands):
        seated = generator.permutation(PLAYERS)[: rules.num_players]
        state, decisions = HandState.deal(rules, generator), []
        while not state.is_over:
            legal = state.legal()
            fold, bet = habits(int(seated[state.to_act]), legal.fold)
            draw = generator.random()
            raised = legal.max_raise if number % 2 else legal.min_raise
            action = FOLD if draw < fold else raised if draw > 1 - bet and legal.max_raise else CALL
            decisions.append((state.betting, state.board, action))
            state = state.apply(action)
        observed.append(ObservedHand(1000 + number, tuple(f"p{player}" for player in seated), decisions))
    return observed


def places(work: Path) -> tuple[str, str]:
    return f"artifacts={work / 'artifacts'}", f"runs={work / 'runs'}"


def rows_of(work: Path) -> str:
    return str(work / "artifacts" / "opponent_actions")


def written(observed: list[ObservedHand], work: Path, **config: str) -> Path:
    """The artifacts of `work`, with the hands as rows."""
    rows, folder = ActionRows.of(observed), work / "artifacts"
    write_rows(folder / "opponent_actions", rows.columns, rows.names, config=config, made_from={}, counts={})
    return folder


@pytest.fixture(scope="module")
def hands() -> list[ObservedHand]:
    return play(700, seed=1)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory, hands: list[ObservedHand]) -> Path:
    root = tmp_path_factory.mktemp("opponent")
    written(hands, root)
    return root


@pytest.fixture(scope="module")
def train(work: Path) -> Callable[..., None]:
    def run(model: str, *overrides: str) -> None:
        call_here("train", f"model={model}", *places(work), *overrides)

    return run


@pytest.fixture(scope="module")
def nets(work: Path, train: Callable[..., None]) -> Path:
    small = ("net.hidden=[16]", "data.batch_rows=64")
    train("opponent", "net=hand", "trainer.max_epochs=3", *small)
    train("opponent", "net=adaptive", "trainer.max_epochs=4", "net.members=2", *small)
    return work / "artifacts" / "opponent_net"


def test_interrupted_dropout_is_the_same(
    work: Path, tmp_path: Path, train: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that ends in its second epoch goes on in the third with what it would have drawn."""

    def weights(name: str) -> dict[str, torch.Tensor]:
        settings = ("net=hand", "trainer.max_epochs=3", "net.hidden=[8]", "data.batch_rows=64")
        train("opponent", *settings, f"export.output={tmp_path / name}", f"runs={tmp_path / name}")
        return load_opponent_net(tmp_path / name).state_dict()

    whole = weights("whole")

    def interrupt(module: OpponentModule) -> None:
        if module.trainer.current_epoch == 2:
            raise PokernetsError("interrupted")

    with monkeypatch.context() as patched:
        patched.setattr(OpponentModule, "on_train_epoch_start", interrupt)
        with pytest.raises(PokernetsError, match="interrupted"):
            weights("resumed")
    torch.rand(5)
    resumed = weights("resumed")
    assert all(torch.equal(resumed[name], tensor) for name, tensor in whole.items())


def test_validation_has_its_own_metrics(work: Path, tmp_path: Path, train: Callable[..., None]) -> None:
    places = (f"export.output={tmp_path}/net", f"runs={tmp_path}/runs", "logger=csv", "trainer.log_every_n_steps=1")
    train("opponent", "trainer.max_epochs=2", *places)
    [metrics] = tmp_path.rglob("metrics.csv")
    rows = list(csv.DictReader(metrics.read_text().splitlines()))
    assert sum(bool(row["train/log_loss"]) for row in rows) == 2 * len(OpponentData(rows_of(work)).train_dataloader())
    assert not any(name.startswith("test/") for name in rows[0])
    measured = open_artifact(tmp_path / "net", OPPONENT_NET).counts["test"]
    [*_, last] = (row for row in rows if row["validation/log_loss"])
    for name in ("log_loss", "log_loss_of_mean", "accuracy"):
        assert float(last[f"validation/{name}"]) == pytest.approx(measured[name], rel=1e-5)
    data = OpponentRows(rows_of(work), 0.2)
    shares, action = data.class_shares(), data.columns["action"][data.test_rows]
    assert measured["log_loss_of_mean"] == pytest.approx(-np.log(shares)[action].mean(), rel=1e-5)


def test_training_continues_from_a_checkpoint_for_more_epochs(
    tmp_path: Path, train: Callable[..., None], work: Path
) -> None:
    runs = f"runs={tmp_path}/runs"
    train("opponent", "trainer.max_epochs=2", f"export.output={tmp_path}/two", runs)
    [last] = tmp_path.rglob("last.ckpt")
    train("opponent", "trainer.max_epochs=4", f"export.output={tmp_path}/four", runs, f"ckpt_path={last}")
    [schedule] = torch.load(max(tmp_path.rglob("last.ckpt"), key=os.path.getmtime))["lr_schedulers"]
    assert schedule["total_steps"] == schedule["last_epoch"] == 4 * len(OpponentData(rows_of(work)).train_dataloader())


def test_the_split_is_by_time(work: Path) -> None:
    rows = OpponentRows(rows_of(work), 0.2)
    hand = rows.columns["hand"]
    assert hand[rows.train_rows].max() < rows.first_test_hand == 560 <= hand[rows.test_rows].min()
    assert (rows.columns["street"][rows.train_rows] > 0).all()
    assert rows.columns["time"][rows.train_rows].max() < rows.columns["time"][rows.test_rows].min()
    for name, share in itertools.product(("test_share", "train_share"), (0.0, 1.01)):
        with pytest.raises(PokernetsError, match=f"{name} must be above 0 and at most 1"):
            OpponentRows(rows_of(work), **{"test_share": 0.2, name: share})
    with pytest.raises(PokernetsError, match="too few hands to train on"):
        OpponentData(rows_of(work), 1.0)


def test_the_latest_of_the_training_hands(work: Path) -> None:
    """Training on the latest hands alone changes neither the players' pasts nor the test rows."""
    path = rows_of(work)
    whole, half = OpponentRows(path, 0.2), OpponentRows(path, 0.2, 0.5)
    assert np.array_equal(half.test_rows, whole.test_rows)
    hand = whole.columns["hand"]
    assert np.array_equal(half.train_rows, whole.train_rows[hand[whole.train_rows] >= 280])
    assert np.array_equal(np.unique(hand[half.in_training]), np.arange(280, 560))
    table = whole.population_table()

    def base(given: Inputs) -> np.ndarray:
        return np.full((len(given.features), 3), 1 / 3, dtype=np.float32)

    past_of_whole, past_of_half = (rows.inputs(("past",), base, table).past for rows in (whole, half))
    assert np.array_equal(past_of_whole, past_of_half)


@pytest.mark.slow
def test_a_net_that_remembers_players_beats_one_that_does_not(nets: Path, work: Path) -> None:
    data = OpponentData(rows_of(work), base=str(nets / "hand"))
    base, adaptive = load_opponent_net(nets / "hand"), load_opponent_net(nets / "adaptive")
    data.prepare(adaptive.needs)
    batches = list(data.val_dataloader())
    action = torch.cat([batch.action for batch in batches])
    without, remembering = (
        score(torch.cat([net(batch).softmax(dim=1) for batch in batches]), action) for net in (base, adaptive)
    )
    assert remembering["log_loss"] < without["log_loss"] - 0.03
    assert remembering["accuracy"] > without["accuracy"]


def assert_predicts(predictor: Predictor, hands: list[ObservedHand], wanted: np.ndarray, first_street: int) -> None:
    """Decision by decision, each observed after its prediction."""
    decisions = [(hand.names, decision) for hand in hands for decision in hand.decisions]
    for row, (names, (betting, board, action)) in enumerate(decisions):
        context = context_of(betting, board, names[betting.to_act])
        probs = predictor.probs(context)
        if betting.street >= first_street:
            np.testing.assert_allclose(probs, wanted[row], atol=1e-5)
        predictor.update(context, sized_class(betting, action))


def test_predictions_at_the_table_equal_the_rows(nets: Path, work: Path, hands: list[ObservedHand]) -> None:
    """Every decision predicted and observed one at a time, against all rows at once."""
    rows = OpponentRows(rows_of(work), 0.2)
    base = load_opponent_net(nets / "hand")
    inputs = rows.inputs(("hand", "past"), base.probs)
    wanted = load_opponent_net(nets / "adaptive").probs(inputs)
    predictor = OpponentNet(nets / "adaptive", base=nets / "hand")
    assert isinstance(predictor, Predictor)
    assert_predicts(predictor, hands[:60], wanted, first_street=1)
    betting, board, _ = hands[-1].decisions[-1]
    seen, unseen = (context_of(betting, board, name) for name in ("p0", "somebody else"))
    assert np.abs(predictor.probs(unseen) - predictor.probs(seen)).max() > 1e-3
    predictor.forget()
    np.testing.assert_allclose(predictor.probs(seen), predictor.probs(unseen))


@pytest.fixture(scope="module")
def no_limit(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[ObservedHand]]:
    """Nets `hand` and `adaptive` of six-handed no-limit, trained for an epoch, and the hands."""
    root = tmp_path_factory.mktemp("no_limit")
    observed = play(150, seed=2, game="holdem_nolimit_6p")
    folder, small = written(observed, root, betting="nolimit"), ("net.hidden=[8]", "net.members=1", "net.classes=9")
    for name in ("hand", "adaptive"):
        call_here("train", "model=opponent", f"net={name}", "trainer.max_epochs=1", *small, *places(root))
    return folder, observed


def test_no_limit_predictions_at_the_table_equal_the_rows(no_limit: tuple[Path, list[ObservedHand]]) -> None:
    """All streets, raises by size; limit hands are refused."""
    folder, observed = no_limit
    call_here("evaluate", "evaluate=opponent_table_nolimit", "~nets.small", f"artifacts={folder}", f"runs={folder}")
    report = json.loads((folder / "opponent_table" / "results.json").read_text())
    losses = {name: scores["preflop"]["log_loss"] for name, scores in report["predictors"].items()}
    assert losses["habits"] < losses["frequencies"] < losses["majority"]  # players differ, and nobody looks at cards
    assert losses["mixture"] < losses["adaptive"]  # a net of one epoch
    assert sum(report["weights"]["adaptive"]) == pytest.approx(1)
    rows = OpponentRows(str(folder / "opponent_actions"), 0.2)
    assert (rows.columns["street"][rows.train_rows] == 0).any()
    base, net = (load_opponent_net(folder / "opponent_net" / name) for name in ("hand", "adaptive"))
    wanted = net.probs(rows.inputs(("hand", "past"), base.probs))
    assert wanted.shape == (len(rows.columns["action"]), rows.classes) == (len(wanted), 9)
    table = OpponentNet(folder / "opponent_net" / "adaptive", folder / "opponent_net" / "hand")
    assert_predicts(table, observed[:40], wanted, first_street=0)
    limit = context_of(Betting.start(load_rules("holdem_limit_3p")), (), "p0")
    with pytest.raises(PokernetsError, match="is for nolimit games"):
        table.probs(limit)


def test_a_net_of_other_classes_is_refused(no_limit: tuple[Path, list[ObservedHand]]) -> None:
    with pytest.raises(PokernetsError, match=r"9 classes of actions and the net gives 3: set net\.classes=9"):
        call_here("train", "model=opponent", *places(no_limit[0].parent))


def test_habits_start_from_a_net_and_move_to_the_player(no_limit: tuple[Path, list[ObservedHand]]) -> None:
    folder, _ = no_limit
    prior = NetPrior(folder / "opponent_net" / "adaptive", folder / "opponent_net" / "hand")
    start, rules = Habits(prior=prior), load_rules("holdem_nolimit_2p")
    betting, boards = Betting.parse(rules, "cc/"), [parse_cards("Kh9h4c"), parse_cards("AdQd2d")]
    weights, actions = np.ones((2, rules.num_hands)), (CALL, 200, 20000)

    def mean_probs(model: Habits, number: int = 2) -> np.ndarray:
        """[B, 3] mean probabilities of `actions`."""
        probs, confidence = model.probs(betting, boards[:number], actions, weights[:number])
        assert 0 < confidence < 1
        live = [HOLDEM.live(board) for board in boards[:number]]
        return np.stack([each[alive].mean(axis=0) for each, alive in zip(probs, live, strict=True)])

    net = prior.frequencies(betting, boards)
    np.testing.assert_allclose(mean_probs(start)[:, 0], net[:, :2].sum(axis=1), atol=0.03)  # nobody can fold
    np.testing.assert_allclose(mean_probs(start)[0], mean_probs(start, 1)[0], atol=1e-6)
    assert np.abs(np.diff(net, axis=0)).max() > 1e-4  # the board counts
    hand = HandState.deal(rules, np.random.default_rng(1))
    while not hand.is_over:
        hand = hand.apply(CALL if hand.to_act else hand.legal().min_raise or CALL)
    learned = start
    for _ in range(40):
        learned = learned.after(hand.view(0), 1)
    assert learned.prior is not None
    assert learned.prior.fingerprint != prior.fingerprint
    np.testing.assert_array_equal(prior.frequencies(betting, boards), net)  # as before
    assert Habits(prior=prior) == start != Habits()
    assert start.after(hand.view(0), 1) == start.after(hand.view(0), 1) != start
    facing = Betting.parse(rules, "r200c/r400")
    assert facing.to_act == 1
    called = [model.probs(facing, boards[:1], (FOLD, CALL), weights[:1])[0] for model in (start, learned)]
    assert called[1][..., 1].sum() > called[0][..., 1].sum()


def test_inputs_of_a_row_come_from_the_rows_before_it(work: Path) -> None:
    rows = OpponentRows(rows_of(work), 0.2)
    changed = {name: column.copy() for name, column in rows.columns.items()}
    cut = 900
    changed["action"][cut:] = 2 - changed["action"][cut:]
    predicted = np.full((len(changed["action"]), 3), 1 / 3, dtype=np.float32)
    table = rows.population_table()
    for inputs in (history.hand_rows, lambda columns: history.player_rows(columns, predicted, table)):
        before, after = inputs(rows.columns), inputs(changed)
        np.testing.assert_array_equal(before[: cut + 1], after[: cut + 1])
        assert not np.array_equal(before[cut + 1 :], after[cut + 1 :])


def test_every_way_of_cutting_has_cells_of_its_own(work: Path) -> None:
    rows = OpponentRows(rows_of(work), 0.2)
    generator = np.random.default_rng(0)
    predicted = generator.dirichlet([1, 1, 1], size=len(rows.contexts)).astype(np.float32)
    predicted[:3] = np.eye(3)
    features = rows.columns["features"].copy()
    features[:, NAMES.index("active")] = generator.integers(2, 11, len(features)) / 10
    features[:, NAMES.index("still_to_act")] = generator.integers(0, 10, len(features)) / 10
    cells = history.cells(features, rows.contexts, predicted)
    assert cells.min() == 0
    assert cells.max() < history.NUM_CELLS
    assert (cells.max(axis=0)[:-1] < cells.min(axis=0)[1:]).all()


def test_a_net_with_a_memory_needs_its_base(nets: Path) -> None:
    with pytest.raises(PokernetsError, match="set base"):
        OpponentNet(nets / "adaptive")


@pytest.mark.parametrize(
    "architecture",
    [Architecture(SmallNet), Architecture(WideNet, hidden=(8,), inputs=("hand", "past"), dropout=0.1, members=3)],
    ids=["small", "wide"],
)
def test_export_and_back(architecture: Architecture, tmp_path: Path) -> None:
    net = architecture()
    counts = {POPULATION: np.full((12, 3), 1 / 3).tolist()}
    artifact: dict[str, Any] = {"config": {}, "made_from": {}, "counts": counts}
    export_net(tmp_path / "n", OPPONENT_NET, architecture, net, stamp=STAMP, **artifact)
    loaded = load_opponent_net(tmp_path / "n")
    generator = torch.Generator().manual_seed(0)
    features, hand, past = (torch.rand((40, size), generator=generator) for size in INPUT_SIZES.values())
    batch = OpponentBatch(features, hand, past, torch.zeros(40, dtype=torch.int64))
    if isinstance(net, WideNet):
        first, second, _ = (each for name, each in net.state_dict().items() if name.endswith("layers.0.weight"))
        assert not torch.equal(first, second)
    net.eval()
    torch.testing.assert_close(loaded(batch), net(batch).detach(), atol=1e-6, rtol=0)
    export_net(tmp_path / "n", OPPONENT_NET, architecture, net, stamp={**STAMP, "feature_hash": "x"}, **artifact)
    with pytest.raises(MismatchedArtifactError, match="feature_hash"):
        load_opponent_net(tmp_path / "n")


def test_all_predictors_on_the_same_rows(nets: Path, work: Path, train: Callable[..., None]) -> None:
    train("opponent", "net=small", "trainer.max_epochs=3", "data.batch_rows=64")
    call_here("evaluate", "evaluate=opponent_table", *places(work))
    report = json.loads((work / "runs" / "opponent_table" / "results.json").read_text())
    by_name = {name: scores["all"] for name, scores in report["predictors"].items()}
    assert set(by_name) == {"majority", "frequencies", "player_frequencies", "small", "hand", "adaptive"}
    losses = {name: scores["log_loss"] for name, scores in by_name.items()}
    assert losses["player_frequencies"] < losses["frequencies"] < losses["majority"]
    assert losses["adaptive"] < losses["hand"]
    for scores in by_name.values():
        assert scores["rows"] == report["rows"]["test"]
        assert scores["interval"][0] < scores["log_loss"] < scores["interval"][1]
    assert set(report["predictors"]["majority"]) == {
        "all",
        "facing a bet",
        "flop",
        "turn",
        "river",
        "players met",  # all twelve, who have played a hundred hands by then
    }
    difference, low, high = report["predictors"]["adaptive"]["all"]["less_reference"]
    assert low < difference < high


def test_hands_before_count_each_hand_of_a_player_once() -> None:
    players, hands = np.array([4, 7, 4, 4, 7, 4], np.int32), np.array([0, 0, 0, 1, 2, 3], np.int32)
    assert hands_before(players, hands).tolist() == [0, 0, 0, 1, 1, 2]


def test_scores_of_three_decisions() -> None:
    probs = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    scores = score(torch.from_numpy(probs), torch.tensor([0, 1, 0]))
    assert scores["accuracy"] == pytest.approx(2 / 3)
    assert scores["log_loss"] == pytest.approx(-np.log([0.5, 0.8, 0.2]).mean())
    assert scores["brier"] == pytest.approx(np.mean([0.25 + 0.09 + 0.04, 0.01 + 0.04 + 0.01, 0.64 + 0.04 + 0.36]))


def test_calibration_error_is_small_where_probabilities_are_true() -> None:
    generator = np.random.default_rng(0)
    probs = generator.dirichlet([2, 3, 1], size=40_000)
    action = torch.from_numpy((generator.random(40_000)[:, None] > probs.cumsum(axis=1)).sum(axis=1))
    assert score(torch.from_numpy(probs), action)["calibration"] < 0.01
    sharpened = probs**2 / (probs**2).sum(axis=1, keepdims=True)
    assert score(torch.from_numpy(sharpened), action)["calibration"] > 0.08


def test_bootstrap_resamples_whole_groups() -> None:
    for groups, times in ((4000, 1), (400, 10)):
        values = np.repeat(np.random.default_rng(1).normal(size=groups), times)
        low, high = bootstrap(values, np.repeat(np.arange(groups), times))
        assert high - low == pytest.approx(2 * 1.96 / np.sqrt(groups), rel=0.2)
