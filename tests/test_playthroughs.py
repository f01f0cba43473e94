import pytest

from tests.golden.playthroughs import FOLDER, playthrough
from tests.random_play import GAMES


@pytest.mark.parametrize("name", GAMES)
def test_playthrough_is_unchanged(name: str) -> None:
    path = FOLDER / f"{name}.txt"
    assert path.exists(), f"conf/game/{name}.yaml has no playthrough: run `make golden`"
    assert playthrough(name) == path.read_text(), (
        "the game plays differently: `make golden`, and explain the difference"
    )


def test_no_playthrough_without_a_game() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == GAMES
