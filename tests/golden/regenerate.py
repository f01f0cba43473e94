"""`make golden`: writes the golden files anew; the difference in git is what a change of behaviour has to justify."""

from tests.golden.playthroughs import FOLDER, playthrough
from tests.random_play import GAMES


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for stale in FOLDER.glob("*.txt"):
        stale.unlink()
    for name in GAMES:
        path = FOLDER / f"{name}.txt"
        path.write_text(playthrough(name))
        print(path)


if __name__ == "__main__":
    main()
