"""The HTTP interface of the table's server in JSON, and the page that describes it, made from its OpenAPI document."""

import json
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from html import escape
from importlib.metadata import version
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from nicegui import app, ui
from pydantic import ValidationError

from poker.game.rules import Rules
from poker.play.lineup import AgentSpec
from poker.run.child import ChildFailure
from poker.run.commands import PROGRAM
from poker.run.errors import PokernetsError
from poker.run.limits import parse_json
from poker.studio.pages.elements import Fill, Needs, html
from poker.studio.serving.answers import RefusedQuestion
from poker.studio.serving.questions import KINDS, LIMITS, BusyError, Desk, Question, Queue, described, reasons

PLACE = "/api"
_DESCRIPTION = (
    f"POST a question as JSON, with the token of this server if it has one (`?token=`). {LIMITS} A question that"
    " cannot be answered returns status 422 with the reason as `detail`, and one too many returns status 429."
)
_REFUSALS = {422: "The question cannot be answered", 429: "Too many questions wait", 500: "The agent has failed"}


def make(
    _: Needs, game: Rules, agents: Sequence[AgentSpec], reviewer: AgentSpec | None, threads: int, processes: int | None
) -> Fill:
    """Make the page of the HTTP interface and mount the interface.

    Args:
        _: unused.
        agents: the agents that can be queried.
        reviewer: the agent that reviews if none of `agents` can.
        threads: threads of a solve.
        processes: processes of the agents, as in `Pool`.
    """
    desk = Desk(game, agents, reviewer, threads, processes)
    served, queue = interface(desk), Queue(desk)
    app.mount(PLACE, served)

    async def fill(_: str) -> None:
        _show(served.openapi(), queue)

    return fill


def interface(desk: Desk) -> FastAPI:
    """Return the HTTP interface of a desk."""
    served = FastAPI(
        title="pokernets", version=version(PROGRAM), description=_DESCRIPTION, docs_url=None, redoc_url=None
    )
    queue = Queue(desk)
    refusals: dict[int | str, dict[str, Any]] = {
        status: {"model": RefusedQuestion, "description": why} for status, why in _REFUSALS.items()
    }
    for name, kind in KINDS.items():
        served.post(
            f"/{name}",
            operation_id=name,
            summary=kind.title,
            dependencies=[Depends(_refuse_keys_given_twice)],
            description=described(kind.question),
            responses={200: {"model": kind.answer, "description": described(kind.answer)}, **refusals},
        )(_answering(queue, kind.question))

    @served.exception_handler(RequestValidationError)
    async def no_question(_: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"detail": reasons(error.errors())}, 422)

    async def refused(status: int, _: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, status)

    for error, status in ((PokernetsError, 422), (BusyError, 429), (ChildFailure, 500)):
        served.add_exception_handler(error, partial(refused, status))
    return served


def _answering(queue: Queue, kind: type[Question]) -> Callable[[Any], Awaitable[JSONResponse]]:
    async def answer(question: Any) -> JSONResponse:
        return JSONResponse(await queue.answer(question))

    answer.__annotations__["question"] = kind  # FastAPI parses and describes the body by this type
    return answer


def _show(document: dict[str, Any], queue: Queue) -> None:
    """Show each question with its fields, an example that can be changed and sent, and the answer."""
    schemas = document["components"]["schemas"]
    with ui.element("section").classes("api"):
        _markdown(f"{document['info']['description']} [The OpenAPI document]({PLACE}/openapi.json).")
        for path, methods in document["paths"].items():
            _, kind, answer = KINDS[path.strip("/")]
            asked, answered, operation = schemas[kind.__name__], schemas[answer.__name__], methods["post"]
            _markdown(
                f"## {operation['summary']}: POST {PLACE}{path}\n\n{operation['description']}\n\n{_fields(asked)}"
            )
            with ui.expansion("The answer").props("dense"):
                _markdown(f"{answered['description']}\n\n{_fields(answered)}")
            example = {name: field["examples"][0] for name, field in asked["properties"].items() if "examples" in field}
            field = ui.textarea(value=json.dumps(example, indent=1))
            field.props(f'outlined dense autogrow aria-label="Question to {path}"')
            button = ui.button("Send").props("no-caps dense")
            output = html().props("role=status")
            button.on_click(partial(_send, queue, kind, field, output))


async def _send(queue: Queue, kind: type[Question], field: ui.textarea, output: ui.html) -> None:
    output.set_content("Asking …")
    try:
        question = kind.model_validate_json(str(field.value))
        text = json.dumps(await queue.answer(question))
    except ValidationError as error:
        text = reasons(error.errors())
    except (PokernetsError, ChildFailure) as error:
        text = str(error)
    output.set_content(f"<pre>{escape(text)}</pre>")


async def _refuse_keys_given_twice(request: Request) -> None:
    try:
        parse_json(await request.body())
    except ValueError:
        return  # a body that is not JSON is refused as a question


def _markdown(text: str) -> None:
    ui.markdown(text, extras=["tables", "code-friendly"])


def _fields(schema: dict[str, Any]) -> str:
    """Return Markdown of a table of the fields of a question or an answer."""
    rows = (
        f"| {name} | {field.get('type', '')}{'' if name in schema.get('required', ()) else ' optional'}"
        f" | {field.get('description', '')} |"
        for name, field in schema["properties"].items()
    )
    return "\n".join(("| field | type | meaning |", "| --- | --- | --- |", *rows))
