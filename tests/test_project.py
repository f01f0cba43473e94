"""The metadata a clone of next year installs from."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_constraints_pin_every_dependency_exactly() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = {}
    for line in lines:
        match = re.fullmatch(r"([A-Za-z0-9._-]+)==([0-9][0-9a-z.]*)", line)
        assert match, f"constraints.txt: {line!r} is not name==version"
        name = _normal(match.group(1))
        assert name not in pins, f"constraints.txt pins {name} twice"
        pins[name] = match.group(2)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    names = {_normal(re.split(r"[<>=!~ \[]", requirement)[0]) for requirement in wanted}
    assert names <= set(pins)
    assert pins["torch"].startswith("2.13.")
    assert pins["lightning"] not in ("2.6.2", "2.6.3")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
