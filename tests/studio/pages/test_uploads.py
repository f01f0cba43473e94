"""Untrusted files: the time and memory that they may take of the server, and the answers that they get."""

import pytest

from poker.run.errors import PokernetsError
from poker.studio.hands.hand_file import HandFile
from poker.studio.server.uploads import read_apart
from tests.games import load_rules
from tests.studio.hands.test_hand_file import HEADS_UP

RULES = load_rules("holdem_nolimit_2p")


def test_a_file_is_read_as_it_is_here() -> None:
    for text in (HEADS_UP, f"{HEADS_UP}\n\n{HEADS_UP.replace('Kh Qh', 'Kh Kh')}"):
        apart = read_apart("hands.txt", text.encode(), RULES, read=HandFile.read)
        here = HandFile.read("hands.txt", text.encode(), RULES)
        assert (apart.hands, apart.left_out, apart.count) == (here.hands, here.left_out, here.count)
        assert list(map(str, apart.errors)) == list(map(str, here.errors))
    assert apart.errors
    with pytest.raises(PokernetsError, match=r"no\.txt, line 1: no hands"):
        read_apart("no.txt", b"no hands\n", RULES, read=HandFile.read)


def test_a_file_that_takes_too_much_is_refused() -> None:
    """The 300 kB of one dotted key that took 18 GB, and what a reader without bounds of its own may take."""
    dotted = f"variant = 'NT'\na{'.a' * 150_000} = 1\n".encode()
    file = read_apart("bad.phh", dotted, RULES, seconds=5, read=HandFile.read)
    assert (file.count, len(file.errors)) == (0, 1)
    many = "\n\n".join(HEADS_UP.replace("#7", f"#{i}") for i in range(10, 3000)).encode()
    with pytest.raises(PokernetsError, match=r"many\.txt takes too much memory to read"):
        read_apart("many.txt", many, RULES, memory=1 << 20, read=HandFile.read)
    with pytest.raises(PokernetsError, match=r"many\.txt takes more than 1 s to read"):
        read_apart("many.txt", many, RULES, seconds=1, read=HandFile.read)
