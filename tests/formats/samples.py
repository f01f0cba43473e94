"""Hands in the texts of sites and programs (`samples/*.txt`), and how tests read, change and break them."""

import random
import tarfile
from pathlib import Path

import pytest

from poker.formats.histories import hands_of, text_of
from poker.formats.played import HistoryError, PlayedHand
from tests.needs import ARCHIVE


def sample(name: str) -> str:
    return (Path(__file__).parent / "samples" / f"{name}.txt").read_text(encoding="utf-8")


def archived(part: str) -> str:
    """The files of the public archive of hands with `part` in their names."""
    if not ARCHIVE.exists():
        pytest.skip(f"needs {ARCHIVE}")
    with tarfile.open(ARCHIVE) as archive:
        names = [name for name in archive.getnames() if part in name]
        return "\n\n\n".join(archive.extractfile(name).read().decode() for name in sorted(names))  # type: ignore[union-attr]


def read_all(data: str | bytes) -> list[PlayedHand]:
    return list(hands_of(text_of(data.encode() if isinstance(data, str) else data), "x.txt"))


def read(text: str) -> PlayedHand:
    [hand] = read_all(text)
    return hand


def won(hand: PlayedHand) -> dict[str, int]:
    """Net chips by name."""
    return {name: round(net) for name, net in zip(hand.names, hand.payoffs, strict=True)}


def refused(text: str) -> str:
    """Line and reason of the error that ends a text."""
    with pytest.raises(HistoryError) as caught:
        read_all(text)
    return f"{caught.value.line}: {caught.value.reason}"


def broken(data: bytes, rng: random.Random) -> bytes:
    """Cut off, or with some bytes changed, inserted or taken out."""
    if rng.random() < 0.25:
        return data[: rng.randrange(len(data))]
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(changed))
        draw = rng.random()
        if draw < 0.5:
            changed[place] = (
                rng.choice(b"0123456789abcdhsAKQT[]$ .:,#'\n\xff\x00") if draw < 0.4 else rng.randrange(256)
            )
        elif draw < 0.75:
            del changed[place]
        else:
            changed.insert(place, rng.randrange(256))
    return bytes(changed)
