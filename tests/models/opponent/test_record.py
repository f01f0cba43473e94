"""Nets are measured on hands that they have not learned from, beside players whom they have met or not."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data_gen.opponent_actions import ActionRows
from data_gen.support.sources import ObservedHand
from models.opponent.data import OpponentRows
from models.opponent.inference import OPPONENT_NET, STAMP, OpponentNet
from models.opponent.nets import WideNet
from models.opponent.record import NetRecord, training_counts
from models.opponent.table import run as table
from models.training.export import Architecture, export_net
from poker.game.rules import action_class
from poker.opponents.inputs.rows import write_rows
from poker.opponents.model import context_of
from poker.store.artifacts import Artifact, MismatchedArtifactError
from tests.models.opponent.test_training import play

SHARE = 0.2
HANDS = play(150, seed=3)
HAND = Architecture(WideNet, hidden=(8,), inputs=("hand",), seed=1)
PAST = Architecture(WideNet, hidden=(8,), inputs=("hand", "past"), seed=2)
IRC = {"source": "irc"}


def rows_at(path: Path, hands: Sequence[ObservedHand], config: dict[str, Any] = IRC) -> Path:
    rows = ActionRows.of(hands)
    write_rows(path, rows.columns, rows.names, config=config, made_from={}, counts={})
    return path


def net_at(
    path: Path, architecture: Architecture, data: Path, share: float = SHARE, base: str = "", train_share: float = 1.0
) -> Artifact:
    """An untrained net that says it was trained on the rows at `data`."""
    rows = OpponentRows(str(data), share, train_share)
    made_from = {"opponent_actions": rows.fingerprint, **({"base": base} if base else {})}
    return export_net(
        path,
        OPPONENT_NET,
        architecture,
        architecture(),
        stamp=STAMP,
        config={"data": {"test_share": share}},
        made_from=made_from,
        counts=training_counts(rows),
    )


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows `april`, the net `hand`, and `player`, which knows players by their past."""
    root = tmp_path_factory.mktemp("nets")
    april = rows_at(root / "april", HANDS)
    base = net_at(root / "hand", HAND, april)
    net_at(root / "player", PAST, april, base=base.fingerprint)
    return root


def measure(root: Path, data: Path, out: Path, nets: Mapping[str, Path] | None = None, **changes: Any) -> Any:
    """Run the measurement and return its record; without `nets`, for `hand` and `player` in `root`."""
    settings = {"test_share": None, "base": str(root / "hand")}
    paths = {name: str(path) for name, path in (nets or {name: root / name for name in ("hand", "player")}).items()}
    more = {"statistics": {}, "counted": {}, "reference": "", "apart": (), "architectures": (), "out": str(out)}
    table(data=str(data), nets=paths, **{**settings, **more, **changes})
    return json.loads((out / "results.json").read_text())


def moved(hands: Sequence[ObservedHand], time: int = 0, letter: str = "p") -> list[ObservedHand]:
    return [
        replace(hand, time=hand.time + time, names=tuple(letter + name[1:] for name in hand.names)) for hand in hands
    ]


def test_training_rows_are_measured_on_the_rest(root: Path, tmp_path: Path) -> None:
    record, rows = measure(root, root / "april", tmp_path), OpponentRows(str(root / "april"), SHARE)
    assert record["rows"]["test"] == record["rows"]["by_known_players"] == len(rows.test_rows)
    assert record["rows"]["train"] == len(rows.train_rows)
    assert record["nets"] == {name: NetRecord.read(root / name, name).fingerprint for name in ("hand", "player")}
    assert measure(root, root / "april", tmp_path, test_share=0.1)["rows"]["test"] < record["rows"]["test"]
    with pytest.raises(MismatchedArtifactError, match=r"the net `hand` was trained on the first 80% of .*0\.2 or less"):
        measure(root, root / "april", tmp_path, test_share=0.5)


@pytest.mark.parametrize(("letter", "has_met"), [("p", True), ("q", False)])
def test_later_hands_of_others_and_of_those_it_knows(letter: str, has_met: bool, root: Path, tmp_path: Path) -> None:
    """Losses equal those of single decisions at the table, where the first to act is not first in the net's rows."""
    later = moved(play(40, seed=4), 10_000, letter)
    record = measure(root, rows_at(tmp_path / "later", later), tmp_path / "out")
    assert record["rows"]["train"] == 0
    assert (record["rows"]["by_known_players"] > 0) == has_met
    predictor, losses = OpponentNet(root / "player", base=root / "hand"), []
    for hand in later:
        for betting, board, action in hand.decisions:
            context = context_of(betting, board, hand.names[betting.to_act])
            if betting.street:
                losses.append(-np.log(predictor.probs(context)[action_class(action)]))
            predictor.update(context, action_class(action))
    scores = record["predictors"]["player"]["all"]
    assert scores["rows"] == len(losses)
    assert scores["log_loss"] == pytest.approx(np.mean(losses), abs=1e-5)


def test_hands_that_it_may_have_learned_from_are_refused(root: Path, tmp_path: Path) -> None:
    """The archive with a month more has another fingerprint and the same hands."""
    more = rows_at(tmp_path / "more", [*HANDS, *moved(play(100, seed=5), 5000)])
    message = (
        r"the net `hand` may have learned from .*more, which has \d+ decisions of players it knows.*test_share=0\.\d+"
    )
    with pytest.raises(MismatchedArtifactError, match=message) as caught:
        measure(root, more, tmp_path / "out")
    share = float(str(caught.value).split("test_share=")[1].split()[0])
    assert measure(root, more, tmp_path / "out", test_share=share)["rows"]["test"] > 0
    rows = OpponentRows(str(more), share)
    assert rows.columns["time"][rows.test_rows].min() > NetRecord.read(root / "hand", "hand").last
    others = rows_at(tmp_path / "others", moved(HANDS, letter="q"))
    assert measure(root, others, tmp_path / "out")["rows"]["by_known_players"] == 0


def test_self_play_of_another_seed_is_other_hands(tmp_path: Path) -> None:
    first = rows_at(tmp_path / "first", HANDS, {"source": "self_play", "seed": 1, "hands": 150})
    net_at(tmp_path / "hand", HAND, first)
    other = rows_at(tmp_path / "other", HANDS[:50], {"source": "self_play", "seed": 2, "hands": 50})
    assert measure(tmp_path, other, tmp_path / "out", {"hand": tmp_path / "hand"})["rows"]["train"] == 0
    same = rows_at(tmp_path / "same", HANDS[:50], {"source": "self_play", "seed": 1, "hands": 50})
    with pytest.raises(
        MismatchedArtifactError, match=r"the net `hand` may have learned from .* measure it on other rows$"
    ):
        measure(tmp_path, same, tmp_path / "out", {"hand": tmp_path / "hand"})


@pytest.mark.parametrize(("later", "train_share"), [(9000, 1.0), (0, 0.5)])
def test_nets_of_different_hands_are_refused(later: int, train_share: float, root: Path, tmp_path: Path) -> None:
    learned = rows_at(tmp_path / "may", moved(HANDS, later)) if later else root / "april"
    net_at(tmp_path / "hand", HAND, learned, train_share=train_share)
    nets = {"hand": tmp_path / "hand", "player": root / "player"}
    with pytest.raises(
        MismatchedArtifactError, match=r"`hand` and `player` were trained on different hands: .*nets\.player"
    ):
        measure(root, root / "april", tmp_path / "out", nets)
    with pytest.raises(MismatchedArtifactError, match="the net `player` was trained with another base net"):
        measure(root, root / "april", tmp_path / "out", base=str(tmp_path / "hand"))


def test_net_without_the_source_of_its_data_is_refused(root: Path, tmp_path: Path) -> None:
    export_net(tmp_path / "hand", OPPONENT_NET, HAND, HAND(), stamp=STAMP, config={}, made_from={}, counts={})
    with pytest.raises(MismatchedArtifactError, match=r"`hand` at .* has no record of its training hands"):
        measure(tmp_path, root / "april", tmp_path / "out", {"hand": tmp_path / "hand"})
