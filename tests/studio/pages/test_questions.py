"""HTTP and tools of language models: the answers of the Python interface, limits, and rubbish."""

import asyncio
import io
import json
import os
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import anyio.to_thread
import httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient

import pokernets
from poker.formats.histories import hands_of
from poker.play.lineup import AgentSpec
from poker.studio.server.access import Access
from poker.studio.serving import mcp, questions
from poker.studio.serving.loaded_agent import LoadedAgent
from poker.studio.serving.questions import KINDS, Desk, SpotQuestion
from poker.studio.serving.web import interface
from tests.cases import cases, table
from tests.formats.sites.test_pokerstars import LIMIT
from tests.formats.test_ohh import HAND, text_of
from tests.games import HEADS_UP as RULES
from tests.killed import ROOT
from tests.search.even_leaf import even_solver
from tests.studio.hands.test_review import HEADS_UP, NO_SMALL_BLIND
from tests.studio.pages.browser import Browser, open_browser
from tests.studio.pages.serving import serving
from tests.studio.pages.test_server import rubbish

RIVER: dict[str, Any] = table(__file__, "RIVER")
LAPTOP = (f"artifacts={pokernets.TRAINED}/laptop.bundle", "scale=laptop", "search=quick")


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk(RULES, [AgentSpec("solver", even_solver, {})], None, 1, 0)


@pytest.fixture(scope="module")
def client(desk: Desk) -> TestClient:
    return TestClient(Access(interface(desk), None), base_url="http://localhost", raise_server_exceptions=False)


def same(answer: dict[str, list[Any]], table: dict[str, Any]) -> None:
    """Check that an answer's columns are those of a table, numbers to six digits."""
    assert list(answer) == list(table)
    for name, column in table.items():
        if np.issubdtype(column.dtype, np.floating):
            assert np.allclose(np.array(answer[name], float), column, rtol=1e-5, equal_nan=True)
        else:
            assert answer[name] == column.tolist()


def solved() -> dict[str, Any]:
    keys = {key: value for key, value in RIVER.items() if key not in ("bets", "words")}
    spot = pokernets.solve({**keys, **RIVER["bets"]})
    return {"ev": spot.ev, "hands": spot.strategy(RIVER["words"])}


def asked(agent: LoadedAgent) -> dict[str, Any]:
    return agent.strategy(agent.state("r300c/", "Ks9d4c"))


def reviewed(agent: LoadedAgent) -> dict[str, Any]:
    [hand] = hands_of(HEADS_UP, "f.txt", RULES)
    return agent.review(hand, "Ann")


def profiled() -> dict[str, Any]:
    profiles = pokernets.profiles_table(hands_of(HEADS_UP, "f.txt", RULES))
    return {name: column[profiles["player"] == "Ann"] for name, column in profiles.items()}


def check_schema(name: str, answer: dict[str, Any]) -> None:
    """Check that the schema of answers describes all that this one has."""
    assert KINDS[name].answer.model_validate(answer).model_dump(exclude_unset=True) == answer


def check_answers(ask: Callable[[str, dict[str, Any]], dict[str, Any]], agent: LoadedAgent) -> None:
    """Check that `ask(name, question)` answers as Python does."""
    answer, here = ask("solve", RIVER), solved()
    same(answer["hands"], here["hands"])
    assert (answer["ev"]["oop"], answer["ev"]["ip"]) == pytest.approx(here["ev"], rel=1e-5)
    assert (answer["finished"], answer["player"]) == (True, "OOP")
    assert answer["actions"].keys() == {"fold", "call", "raise102"}
    state, table = {"betting": "r300c/", "board": "Ks9d4c"}, asked(agent)
    same(ask("ask", state)["hands"], table)
    row = list(table["hand"]).index("AhAc")
    same(ask("ask", {**state, "hand": "AcAh"})["hands"], {key: each[[row]] for key, each in table.items()})
    answer = ask("review", {"text": HEADS_UP})
    same(answer["decisions"], reviewed(agent))
    assert answer["player"] == "Ann"
    refused = answer["not_reviewed"]["decisions"]
    assert list(refused) == ["", "r300c/c"]
    assert all(why.startswith("The stacks differ: this hand has 100 big blinds") for why in refused.values())
    answer = ask("review", {"text": f"{HEADS_UP}\n\n{HEADS_UP.replace('#7', '#8')}\n\n{LIMIT}"})
    assert list(answer["not_reviewed"]["hands"].values()) == [1, 1]
    answer = ask("profile", {"text": HEADS_UP, "player": "Ann"})
    same(answer["profiles"], profiled())
    assert (answer["others"], answer["unreadable"]) == (1, 0)


def test_http_answers_as_python_does(client: TestClient) -> None:
    def ask(name: str, question: dict[str, Any]) -> dict[str, Any]:
        answer = client.post(f"/{name}", json=question)
        assert answer.status_code == 200, answer.text
        content: dict[str, Any] = answer.json()
        check_schema(name, content)
        return content

    check_answers(ask, LoadedAgent(even_solver(), RULES))


def test_the_document_describes_questions_answers_and_refusals(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    assert list(document["paths"]) == [f"/{name}" for name in KINDS]
    for name, kind in KINDS.items():
        operation = document["paths"][f"/{name}"]["post"]
        assert operation["operationId"] == name
        schemas = {
            status: answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            for status, answer in operation["responses"].items()
        }
        assert schemas == {"200": kind.answer.__name__, **dict.fromkeys(("422", "429", "500"), "RefusedQuestion")}
        assert document["components"]["schemas"][kind.answer.__name__]["properties"]


@pytest.mark.slow
def test_tools_answer_as_python_does(tmp_path: Path) -> None:
    """A client of the protocol's own library talks to `pokernets mcp`."""
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    from mcp import ClientSession, StdioServerParameters  # noqa: PLC0415
    from mcp.client.stdio import stdio_client  # noqa: PLC0415

    command = ["-m", "pokernets", "mcp", *LAPTOP, "search.seconds_per_decision=null", f"runs={tmp_path}"]
    server = StdioServerParameters(
        command=sys.executable, args=command, cwd=ROOT, env={"PYTHONPATH": ":".join(sys.path)}
    )
    texts: list[tuple[bool, str]] = []
    refused: list[bool] = []
    calls: list[tuple[str, dict[str, Any]]] = [
        ("solve", RIVER),
        ("ask", {"betting": "r300", "hand": "AhKd"}),
        ("review", {"text": HEADS_UP}),
        ("profile", {"text": HEADS_UP}),
        ("solve", {**RIVER, "pot": -1}),
        ("solve", {"pot": "x" * 5000}),
        ("nothing", {}),
        ("review", {"text": text_of(HAND).replace("Ann", "A\\ud800")}),
    ]

    async def talk() -> None:
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            assert [tool.name for tool in tools] == list(KINDS)
            for tool in tools:
                assert tool.output_schema == KINDS[tool.name].answer.model_json_schema()
                assert tool.annotations is not None
                assert (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, False)
            for name, question in calls:
                answer = await session.call_tool(name, question)
                [content] = answer.content
                assert content.type == "text"
                texts.append((bool(answer.is_error), content.text))
                assert answer.is_error or answer.structured_content == json.loads(content.text)
            rng = random.Random(4)
            for _ in range(60):  # as over HTTP
                field = rng.choice([*SpotQuestion.model_fields, "x"])
                answer = await session.call_tool("solve", {**RIVER, field: rubbish(rng)})
                refused.append(bool(answer.is_error))

    anyio.run(talk)
    assert refused.count(True) > 40
    settings: dict[str, Any] = {"search": "quick", "search.seconds_per_decision": None}
    agent = pokernets.load_agent(**settings)
    answers = [json.loads(text) for failed, text in texts if not failed]
    same(answers[0]["hands"], solved()["hands"])
    table = agent.strategy(agent.state("r300"))
    row = list(table["hand"]).index("AhKd")
    same(answers[1]["hands"], {key: each[[row]] for key, each in table.items()})
    same(answers[2]["decisions"], reviewed(agent))
    for (name, _), answer in zip(calls, answers, strict=False):
        check_schema(name, answer)
    refusals = [text for failed, text in texts if failed]
    assert [len(answers), len(refusals)] == [4, 4]
    assert "`pot` must be a positive whole number" in refusals[0]
    assert "unknown tool `nothing`; choose from solve, ask, review, profile" in refusals[2]
    assert "the text contains a lone surrogate" in refusals[3]


def talk_to_tools(monkeypatch: pytest.MonkeyPatch, line: str, answers: BinaryIO) -> None:
    """Run the tools of language models with one line of input."""
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    for name, stream in ("stdin", io.BytesIO(line.encode())), ("stdout", answers):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(stream))
    mcp.run(game=RULES, agents=[], reviewer=None, threads=1, processes=0)


@cases
def test_a_line_that_is_no_message_is_refused(line: str, number: object, monkeypatch: pytest.MonkeyPatch) -> None:
    talk_to_tools(monkeypatch, line, answers := io.BytesIO())
    refusal = json.loads(answers.getvalue())
    assert (refusal["id"], refusal["error"]["code"]) == (number, -32600)
    assert refusal["error"]["message"].startswith("this line is not a message of JSON-RPC: ")


def test_tools_end_quietly_once_nobody_reads_their_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    talk_to_tools(monkeypatch, "rubbish", os.fdopen(theirs, "wb", closefd=False))
    assert capsys.readouterr().err == ""


def test_questions_wait_without_threads_and_more_than_a_few_are_refused() -> None:
    end = threading.Event()

    class Slow:
        def answer(self, _: questions.Question) -> dict[str, Any]:
            assert end.wait(60)
            return {}

    async def ask() -> tuple[list[httpx.Response], float]:
        served = httpx.ASGITransport(interface(cast(Desk, Slow())))
        async with httpx.AsyncClient(transport=served, base_url="http://localhost") as client:
            asked = [asyncio.create_task(client.post("/profile", json={"text": "x"})) for _ in range(45)]
            await asyncio.wait(asked, timeout=60, return_when=asyncio.FIRST_COMPLETED)
            threads = anyio.to_thread.current_default_thread_limiter().borrowed_tokens  # which serve files
            end.set()
            return await asyncio.gather(*asked), threads

    answers, threads = asyncio.run(ask())
    assert threads == 0
    assert Counter(answer.status_code for answer in answers) == {200: 1 + questions.MOST_WAITING, 429: 28}
    assert answers[-1].json() == {"detail": "16 questions wait for their answers: send this one again later"}


def test_large_questions_are_refused_with_their_cost(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusal(**changes: Any) -> str:
        answer = client.post("/solve", json={**RIVER, "words": "", **changes})
        assert answer.status_code == 422
        return str(answer.json()["detail"])

    wide = {"oop_range": "random", "ip_range": "random"}
    assert "needs more than the limit of 1024 MiB" in refusal(**wide, board="QsJh2h")
    monkeypatch.setattr(questions, "SECONDS", 0.5)
    detail = refusal(**wide, board="QsJh2h8d")
    assert "MiB, about" in detail
    assert "s, but the limit is 0.5 s. Offer fewer bet sizes" in detail
    monkeypatch.setattr(questions, "SECONDS", 1e-9)
    assert "takes more than 1e-09 s to build: offer fewer bet sizes" in refusal(board="QsJh2h8d")


def test_unanswerable_questions_are_refused(client: TestClient) -> None:
    for path, question, message in (
        ("solve", {**RIVER, "words": "check fold"}, "`fold`"),
        ("solve", {**RIVER, "bets": {"bet": "x"}}, "bet"),
        ("solve", {**RIVER, "bets": {"bet": "50%", "pot": "9"}}, "`bets` has `pot`"),
        ("solve", {**RIVER, "board": "QsJh"}, "a board of 3, 4 or 5 cards"),
        ("ask", {"betting": "r99999"}, "99999"),
        ("ask", {"betting": "f"}, "nobody acts after `f`"),
        ("ask", {"board": "AsAs2c"}, "different cards"),
        ("ask", {"agent": "you"}, "unknown agent `you`; choose from solver"),
        ("review", {"text": "x"}, "the text, line 1: no hands"),
        ("review", {"text": HEADS_UP, "player": "Zed"}, "`Zed` is not in the hand"),
        ("review", {"text": NO_SMALL_BLIND}, "no hand can be reviewed"),
        ("profile", {"text": "x"}, "the text, line 1: no hands"),
        ("profile", {"text": HEADS_UP, "player": "Zed"}, "unknown player Zed; the hands have "),
    ):
        answer = client.post(f"/{path}", json=question)
        assert answer.status_code == 422, answer.text
        assert message in answer.json()["detail"]
    twice = client.post("/profile", content='{"text": "x", "text": "y"}', headers={"content-type": "application/json"})
    assert (twice.status_code, twice.json()["detail"]) == (422, "the key `text` is given twice in one object")
    assert client.get("/solve").status_code == 405
    assert client.post("/nothing", json={}).status_code == 404


def test_a_request_has_a_size_and_comes_from_here(client: TestClient) -> None:
    big = json.dumps({"text": "x" * (1 << 20)})
    assert client.post("/review", content=big).status_code == 413
    assert client.post("/review", content=iter([b"{}"])).status_code == 411
    assert client.post("/ask", json={}, headers={"Origin": "http://evil.example"}).status_code == 403
    assert client.post("/ask", json={}, headers={"Host": "evil.example"}).status_code == 403


def test_rubbish_is_refused(client: TestClient) -> None:
    """Bodies that are no question, and questions with odd values in place of one, are errors of the one who asks."""
    rng, statuses = random.Random(3), list[int]()
    valid: dict[str, dict[str, Any]] = {"solve": RIVER, "ask": {"hand": "AhKd"}}
    valid |= {"review": {"text": HEADS_UP}, "profile": {"text": HEADS_UP}}
    for _ in range(200):
        path = rng.choice(list(valid))
        question: Any = rubbish(rng)
        if rng.random() < 0.7:
            question = {**valid[path], rng.choice([*KINDS[path].question.model_fields, "x"]): rubbish(rng)}
        body = json.dumps(question).encode()
        if rng.random() < 0.3:
            body = body[: rng.randrange(1 + len(body))] + rng.randbytes(rng.randrange(9))
        answer = client.post(f"/{path}", content=body, headers={"Content-Type": "application/json"})
        statuses.append(answer.status_code)
        json.loads(answer.content)
    assert set(statuses) <= {200, 400, 422}
    assert statuses.count(422) > 100


def test_examples_of_the_document_are_questions() -> None:
    for kind in (kind.question for kind in KINDS.values()):
        fields = kind.model_json_schema()["properties"]
        example = {name: field["examples"][0] for name, field in fields.items() if "examples" in field}
        assert kind.model_validate(example).model_dump(exclude_defaults=True) == example


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with serving("agents=[always_call]", f"runs={tmp_path}") as server:
        yield from open_browser(server.url)


@pytest.mark.slow
def test_page_sends_questions(browser: Browser) -> None:
    browser.open("api")
    browser.shows(".api h2", "Solve a spot: POST /api/solve")
    browser.shows(".api code", "words")
    assert "`" not in browser.all(".api")[0].text
    browser.press(".api button", "Send")
    browser.shows(".api pre", '"finished": true')
    browser.check_page()
    browser.open("api/openapi.json")
    assert '"/review"' in browser.driver.page_source
