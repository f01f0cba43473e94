"""Reading IRC archives: random hands come out as they were played, and nothing in a file stops the reader."""

import gzip
import io
import tarfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poker.formats.irc.archive import Problems, RawHand, read_hands
from poker.formats.irc.replay import IrcHand, replay, replay_all
from poker.game.betting import Betting, IllegalAction
from poker.run.errors import PokernetsError
from tests.cases import cases
from tests.formats.irc_files import Files, PlayedHand, irc_rules, play_hand, write_hand


def read(path: Path) -> tuple[list[IrcHand], Problems]:
    problems = Problems()
    return list(replay_all(read_hands(path, problems), problems)), problems


def played(count: int, seed: int, quitting: float = 0.0, first: int = 800_000_000) -> tuple[Files, list[PlayedHand]]:
    generator = np.random.default_rng(seed)
    files, hands = Files(), []
    for number in range(count):
        players = int(generator.integers(2, 13))
        bankroll = int(generator.choice([1000, 37, 75, 160]))
        hand = play_hand(irc_rules(players, bool(generator.random() < 0.1), bankroll), generator, quitting)
        names = [f"p{index:03d}" for index in generator.permutation(40)[:players]]
        write_hand(files, hand, first + 60 * number, names)
        hands.append(hand)
    return files, hands


@pytest.fixture(scope="module")
def month() -> tuple[Files, list[PlayedHand]]:
    return played(300, seed=1)


def unpacked(files: Files, root: Path, month: str = "holdem/199504") -> Path:
    for name, lines in files.lines.items():
        file = root / month / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")
    return root


@pytest.mark.parametrize("form", ["packed", "unpacked", "nested", "nested in a directory"])
def test_hands_come_out_as_they_were_played(month: tuple[Files, list[PlayedHand]], form: str, tmp_path: Path) -> None:
    files, hands = month
    path = tmp_path / "archive.tgz"
    path.write_bytes(files.packed())
    if form == "unpacked":
        path = unpacked(files, tmp_path / "out")
    elif form == "nested":
        outer = tmp_path / "all.tar"
        with tarfile.open(outer, "w") as archive:
            archive.add(path, "months/holdem.199504.tgz")
        path = outer
    elif form == "nested in a directory":
        path = tmp_path
    hands_read, problems = read(path)
    assert not problems.counts
    assert len(hands_read) == len(hands)
    rosters = [tuple(line.split()[2:]) for line in files.lines["hroster"]]
    for hand, wanted, names in zip(hands_read, hands, rosters, strict=True):
        assert hand.names == names
        assert [tuple(move) for move in hand.moves] == wanted.moves
        assert hand.board == wanted.state.runout
        betting = wanted.state.betting
        at_showdown = [betting.is_showdown and not out for out in betting.folded]
        cards = zip(wanted.state.hole_cards, at_showdown, strict=True)
        assert hand.hole_cards == tuple(held if seen else () for held, seen in cards)


@pytest.mark.parametrize("form", ["nested", "directory of archives", "unpacked"])
def test_months_and_games_come_in_the_order_of_time(form: str, tmp_path: Path) -> None:
    months = {  # overlapping games; neither the order here nor that of the names is the order of time
        "holdem/199506": 802_000_000,
        "holdem/199505": 799_300_000,
        "holdem1/199505": 799_300_030,
        "botsonly/199506": 802_000_045,
    }
    root = tmp_path / "archive"
    root.mkdir()
    for number, (name, first) in enumerate(months.items()):
        files, _ = played(20, seed=number, first=first)
        if form == "unpacked":
            unpacked(files, root, name)
        else:
            (root / f"{name.replace('/', '.')}.tgz").write_bytes(files.packed(name))
    path = root
    if form == "nested":
        path = tmp_path / "all.tar"
        with tarfile.open(path, "w") as archive:
            for name in months:
                archive.add(root / f"{name.replace('/', '.')}.tgz", f"IRCdata/{name.replace('/', '.')}.tgz")
    hands_read, problems = read(path)
    assert not problems.counts
    wanted = sorted(first + 60 * number for first in months.values() for number in range(20))
    assert [hand.stamp for hand in hands_read] == wanted


def test_replayed_states_are_the_played_ones(month: tuple[Files, list[PlayedHand]], tmp_path: Path) -> None:
    files, hands = month
    (tmp_path / "a.tgz").write_bytes(files.packed())
    for hand, wanted in zip(read(tmp_path / "a.tgz")[0], hands, strict=True):
        moves = [move for _, move in hand.states()]
        before = [state.betting.text() for state, _ in hand.states()]
        assert moves == list(hand.moves)
        assert wanted.state.betting.text().startswith(before[-1])
        assert len(set(before)) == len(before)


def test_players_who_quit_in_turn_fold(tmp_path: Path) -> None:
    files, hands = played(200, seed=2, quitting=0.1)
    (tmp_path / "a.tgz").write_bytes(files.packed())
    hands_read, problems = read(tmp_path / "a.tgz")
    assert sum(any(left for _, _, left in hand.moves) for hand in hands) > 100
    assert not problems.counts
    assert [[tuple(move) for move in hand.moves] for hand in hands_read] == [hand.moves for hand in hands]


def lines_of(root: Path, *players: str, counts: str, board: str = "2c 7d 9h Jc Ks") -> list[RawHand]:
    """A hand from what follows the position in each player's line."""
    files = Files()
    files.add("hdb", f"900  3  1  {len(players)}  {counts}  {board}")
    for index, line in enumerate(players):
        files.add(f"pdb/pdb.p{index}", f"p{index} 900 {len(players)} {index + 1} {line}")
    (root / "one.tgz").write_bytes(files.packed())
    problems = Problems()
    hands = list(read_hands(root / "one.tgz", problems))
    assert not problems.counts
    return hands


@cases
def test_oddities_of_the_archive(tmp_path: Path, players: tuple[str, ...], counts: str, text: str) -> None:
    (raw,) = lines_of(tmp_path, *players, counts=counts)
    hand = replay(raw)
    state, move = list(hand.states())[-1]
    after = state.betting.apply_by(move.player, move.action)
    assert after.text() == text


@cases
def test_unreadable_hands_are_counted_by_reason(
    tmp_path: Path, players: tuple[str, ...], counts: str, reason: str
) -> None:
    problems = Problems()
    assert not list(replay_all(lines_of(tmp_path, *players, counts=counts), problems))
    assert dict(problems.counts) == {reason: 1}
    assert "900" in problems.examples[reason][0]


def test_damage_is_counted_and_the_rest_is_read(month: tuple[Files, list[PlayedHand]], tmp_path: Path) -> None:
    files, hands = month
    lines = {name: list(part) for name, part in files.lines.items()}
    lines["hdb"][3] = "8000 what is this"
    lines["hdb"].append(lines["hdb"][10])
    gone = lines["hroster"][20].split()[2]
    lines["pdb/pdb.p999"] = ["\xff\xfe\x00"]
    lost = {line.split()[1] for line in lines.pop(f"pdb/pdb.{gone}")}
    (tmp_path / "a.tgz").write_bytes(Files(lines).packed())
    hands_read, problems = read(tmp_path / "a.tgz")
    assert problems.counts["garbled line"] == 2
    assert problems.counts["time stamp used twice"] == 1
    assert problems.counts["a player of the roster has no line"] == len(lost - _stamps(files, 3, 10))
    assert gone in problems.examples["a player of the roster has no line"][0]
    assert problems.counts["players of a hand that hdb does not have"] == 1
    assert len(hands_read) == len(hands) - len(lost | _stamps(files, 3, 10))


def _stamps(files: Files, *numbers: int) -> set[str]:
    return {files.lines["hdb"][number].split()[0] for number in numbers}


def test_truncated_archive_is_read_to_its_end(month: tuple[Files, list[PlayedHand]], tmp_path: Path) -> None:
    packed = month[0].packed()
    (tmp_path / "a.tgz").write_bytes(packed[: len(packed) // 2])
    hands_read, problems = read(tmp_path / "a.tgz")
    assert problems.counts["archive truncated or damaged"] == 1
    assert "a.tgz" in problems.examples["archive truncated or damaged"][0]
    assert len(hands_read) < 300


def test_a_missing_archive_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match=r"no IRC archive at .*nowhere"):
        list(read_hands(tmp_path / "nowhere", Problems()))


SMALL = played(6, seed=3)[0]


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_no_content_stops_the_reader(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    lines = {name: list(part) for name, part in SMALL.lines.items()}
    for _ in range(data.draw(st.integers(1, 4))):
        name = data.draw(st.sampled_from(sorted(lines)))
        at = data.draw(st.integers(0, len(lines[name]) - 1))
        fields = lines[name][at].split()
        if fields:
            field = data.draw(st.integers(0, len(fields) - 1))
            garbage = st.one_of(
                st.text("BfkbcrAQK-0123456789/ ", max_size=12), st.text(max_size=5), st.just("9" * 5000)
            )
            fields[field] = data.draw(garbage)
        lines[name][at] = " ".join(fields)
    assert _survives(Files(lines).packed(), tmp_path_factory)


@settings(max_examples=60, deadline=None)
@given(at=st.integers(0, 4000), flip=st.integers(1, 255), cut=st.integers(0, 200))
def test_no_byte_stops_the_reader(at: int, flip: int, cut: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    raw = bytearray(SMALL.packed())
    raw[at % len(raw)] ^= flip
    assert _survives(bytes(raw[: len(raw) - cut]), tmp_path_factory)


def _survives(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> bool:
    """Whether all six hands are read, or fewer and a problem is told."""
    path = tmp_path_factory.getbasetemp() / "fuzzed.tgz"
    path.write_bytes(content)
    hands_read, problems = read(path)
    return len(hands_read) == 6 or (len(hands_read) < 6 and problems.counts.total() > 0)


def test_no_number_of_players_costs_memory(month: tuple[Files, list[PlayedHand]], tmp_path: Path) -> None:
    """99,999,999,999 players took 7 GB; numbers in underscores or other digits are garbled."""
    lines = {name: list(part) for name, part in played(4, seed=3)[0].lines.items()}
    for place, number in enumerate(("9" * 11, "1_0", "9" * 30)):
        fields = lines["hdb"][place].split()
        lines["hdb"][place] = " ".join([*fields[:3], number, *fields[4:]])
    path = tmp_path / "a.tgz"
    path.write_bytes(Files(lines).packed())
    tracemalloc.start()
    hands_read, problems = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(hands_read) == 1
    assert problems.counts["garbled line"] == 2
    assert problems.counts["positions are not 1 to the number of players"] == 1
    assert peak < 20e6


def test_an_archive_nested_400_deep_is_a_problem_and_no_traceback(tmp_path: Path) -> None:
    data = SMALL.packed()
    for _ in range(400):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            member = tarfile.TarInfo("a.tgz")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        data = gzip.compress(buffer.getvalue(), 1)
    (tmp_path / "a.tgz").write_bytes(data)
    hands_read, problems = read(tmp_path / "a.tgz")
    assert (hands_read, dict(problems.counts)) == ([], {"archives nested more than 4 deep": 1})


def test_leaving_needs_a_hand() -> None:
    betting = Betting.start(irc_rules(3))
    after = betting.leave(0)
    assert after.folded == (True, False, False)
    assert after.to_act == betting.to_act == 2
    assert after.text() == "f"
    with pytest.raises(IllegalAction, match="player 0 cannot fold"):
        after.leave(0)
    over = after.leave(1)
    assert over.is_over
    with pytest.raises(IllegalAction, match="cannot fold after"):
        over.leave(2)


def test_last_player_to_act_ends_the_round_by_leaving() -> None:
    betting = Betting.parse(irc_rules(3), "cc")
    assert betting.to_act == 1
    after = betting.leave(1)
    assert (after.street, after.to_act, after.committed) == (1, 0, (10, 10, 10))
    assert after.text() == "ccf/"
