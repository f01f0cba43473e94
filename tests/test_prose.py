"""Plain English: the length of pages and sentences, habits that make readers read twice; README runs, links lead on."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.killed import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MOST_WORDS, MOST_IN_A_SENTENCE = 32_500, 40
MOST_HABITS = 26
"""Occurrences of the habits. The cap only falls."""
_HABITS = re.compile(
    r"\bof which\b|\bthose of\b|\bthat which\b|\bclear of 0\b|\btold apart\b|\basked for\b|\bso many\b|\bat the most\b"
    r"|\bWhat\s(?:[\w'-]+\s){1,8}(?:is|wins|has)\b(?![^.|]*\?)"
)
_RIDDLES = re.compile(
    r"_(what|told|tells?|asked|asks?|found|kept|known|shown|wanted|anew|whom|such|holds?(?!_em)|held(?!_out))(?=_|$)"
)
"""Words of names of tests that make readers guess what is tested."""
_NO_PROSE = re.compile(r"```.*?```|<!--.*?-->|^ {4,}.*?$|!\[[^]]*\]|\]\([^)]*\)|`[^`]*`", re.DOTALL | re.MULTILINE)


def _docstrings() -> Iterator[str]:
    for folder in ("pokernets", "poker", "data_gen", "models", "conf", "tests"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                for statement in body if isinstance(body := getattr(node, "body", None), list) else []:
                    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                        yield str(statement.value.value)


def _names_of_tests() -> list[str]:
    trees = (ast.parse(file.read_text()) for file in sorted((ROOT / "tests").rglob("test_*.py")))
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return [node.name for node in nodes if node.name.startswith("test_")]


def _sentences(page: Path) -> list[str]:
    """Sentences of a page; an item of a list and a cell of a table end one."""
    prose = _NO_PROSE.sub(" x ", page.read_text())
    return re.split(r"[.?!][\"')*]*\s|\n\s*\n|\n\s*(?=[-#]|\d+\. )|\|", prose)


def test_documentation_is_short() -> None:
    assert sum(len(page.read_text().split()) for page in PAGES if (ROOT / "docs") in page.parents) <= MOST_WORDS


def test_sentences_are_short() -> None:
    sentences = [" ".join(sentence.split()) for page in PAGES for sentence in _sentences(page)]
    assert len(sentences) > 1000
    assert [each for each in sentences if len(re.findall(r"\w\S*", each)) > MOST_IN_A_SENTENCE] == []


def test_habits_become_fewer() -> None:
    names = (name.replace("_", " ") for name in _names_of_tests())
    texts = [*(page.read_text() for page in PAGES), *_docstrings(), *names]
    assert sum(len(_HABITS.findall(text)) for text in texts) <= MOST_HABITS


def test_names_of_tests_are_no_riddles() -> None:
    assert [name for name in _names_of_tests() if _RIDDLES.search(name)] == []


def test_docstrings_start_with_a_noun_or_verb() -> None:
    assert [text for text in _docstrings() if re.match(r"(Of|By|With|Those|The same|What)\b", text)] == []


README = (ROOT / "README.md").read_text()


def test_it_is_short_and_begins_with_a_picture_and_commands() -> None:
    assert len(README.splitlines()) <= 100
    first = README.partition("## Why")[0]
    assert [text in first for text in ("docs/table.png", "make play", "pipx install 'pokernets[play]'")] == [True] * 3


def test_python_runs_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    actions, folds = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"worth 43\.\d\d of 60 chips, exploitable for 0\.1\d", actions)
    assert re.fullmatch(r"with 2d2c the big blind folds \d+%", folds)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", page.read_text()):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)", linked.read_text(), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]
