"""Documented commands: each is composed, its settings are checked, and jobs refuse nothing but missing artifacts."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from conf.checks import check
from conf.compose import build, compose
from poker.spots.flop_report import flop_keys
from poker.spots.spots import spot_of
from poker.store.artifacts import MissingArtifactError
from pokernets.command import VERBS, overrides
from tests.games import resolve
from tests.killed import ROOT

_OLDER = re.compile(r"git checkout \w+ *(?:#.*)?\n(?: .+\n)*|git checkout .*")
"""Matches commands that need an older commit: the rest of a block, or of a line."""
_TEXTS = [
    re.sub(r"\\\n *", "", _OLDER.sub("", page.read_text()))
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
]
_SCRIPTS = {"evaluate.py": ("evaluate", "evaluate"), "train.py": ("train", "model"), "-m data_gen": ("data_gen", "job")}
_COMMAND = re.compile(
    r"(?:^ *|[`&(] ?)(python (?:evaluate\.py|train\.py|-m data_gen)|pokernets) ([^`#\n&|;]+)", re.MULTILINE
)
_OTHERS = re.compile(r"\.\.\.|(?<!player=)\b(NAME|JOB|GAME)\b|[A-Z]+=|searchpath|cluster=ray|mine\.")
"""Matches commands with choices of the reader, files of an extension, or Ray."""
_SWEEP = re.compile(r"(?<==)([^,\[{]+),.*")


def _commands() -> dict[str, tuple[str, str, list[str]]]:
    """Root, group and overrides of each command of the pages, by its text."""
    commands = {}
    for text in _TEXTS:
        for program, words in _COMMAND.findall(text):
            arguments = [word for word in shlex.split(re.sub(r"   .*", "", words)) if not word.startswith("-")]
            if _OTHERS.search(words) or not arguments:
                continue
            name = f"{program} {' '.join(arguments)}"
            if program != "pokernets":
                one_job = [_SWEEP.sub(r"\1", argument) for argument in arguments]
                commands[name] = (*_SCRIPTS[program.removeprefix("python ")], one_job)
            elif (verb := VERBS.get(arguments[0])) is not None and (arguments[1:] or not verb.first):
                commands[name] = (
                    verb.script.partition("/")[0].removesuffix(".py"),
                    verb.group,
                    overrides(verb, arguments[1:]),
                )
    return commands


_ALL = _commands()


@pytest.mark.parametrize("command", _ALL)
def test_it_is_composed(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root, group, settings = _ALL[command]
    config = compose(root, settings)
    if group == "job":
        config.job.output = "known while a job runs"
    node = resolve(config[group])
    if root != "train":  # of which Lightning and torch check the settings
        check(node)
    if group == "job" and "blueprint" in node:
        with pytest.raises(MissingArtifactError):
            build(node)


def test_modules_and_targets_of_make_exist() -> None:
    modules = re.findall(r"python -m (poker[\w.]+\w)", text := "\n".join(_TEXTS))
    assert all(map(importlib.util.find_spec, modules)), modules
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"(?:^ *|`)make (\w+)", text, re.MULTILINE)) <= set(targets)


def test_the_spot_of_the_tutorial_can_be_solved_on_flops(tmp_path: Path) -> None:
    [lines] = re.findall(
        r"`my.spot` is JSON or lines such as\n\n((?:    .*\n)+)", (ROOT / "docs/tutorial_spot.md").read_text()
    )
    (tmp_path / "my.spot").write_text(lines)
    keys = flop_keys(str(tmp_path / "my.spot"))
    assert spot_of({**keys, "board": "Td9d6h"}).game().total_weight > 0
