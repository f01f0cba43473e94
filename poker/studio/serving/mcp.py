"""`pokernets mcp`: questions as tools of a language model, by the Model Context Protocol over stdin and stdout."""

import importlib.util
import json
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any

from poker.game.rules import Rules
from poker.play.lineup import AgentSpec
from poker.run.commands import PROGRAM, how_to_install
from poker.run.errors import PokernetsError


def run(
    *, game: Rules, agents: Sequence[AgentSpec], reviewer: AgentSpec | None, threads: int, processes: int | None
) -> None:
    """Answer questions until stdin ends.

    Args:
        agents: the agents that can be queried.
        reviewer: the agent that reviews if none of `agents` can.
        threads: threads of a solve.
        processes: processes of the agents, as in `Pool`.

    Raises:
        PokernetsError: the package `mcp` is not installed.
    """
    if importlib.util.find_spec("mcp") is None:
        raise PokernetsError(f"tools for language models need `mcp`, which is not installed: {how_to_install('mcp')}")
    import anyio  # noqa: PLC0415 (an extra)

    from poker.studio.serving.questions import Desk  # noqa: PLC0415

    try:
        anyio.run(_serve, Desk(game, agents, reviewer, threads, processes))
    except* (BrokenPipeError, anyio.BrokenResourceError):  # the client has gone
        pass


async def _serve(desk: Any) -> None:
    import anyio  # noqa: PLC0415
    import mcp_types as types  # noqa: PLC0415
    from mcp.server.lowlevel import Server  # noqa: PLC0415
    from mcp.server.stdio import stdio_server  # noqa: PLC0415
    from mcp.shared.message import SessionMessage  # noqa: PLC0415
    from pydantic import ValidationError  # noqa: PLC0415

    from poker.run.child import ChildFailure  # noqa: PLC0415
    from poker.studio.serving.questions import KINDS, Queue, described, reasons  # noqa: PLC0415

    queue = Queue(desk)
    hints = {"read_only_hint": True, "destructive_hint": False, "idempotent_hint": True, "open_world_hint": False}
    tools = [
        types.Tool(
            name=name,
            title=kind.title,
            description=described(kind.question),
            input_schema=kind.question.model_json_schema(),
            output_schema=kind.answer.model_json_schema(),
            annotations=types.ToolAnnotations(title=kind.title, **hints),
        )
        for name, kind in KINDS.items()
    ]

    async def listed(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def called(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            if params.name not in KINDS:
                raise PokernetsError(f"unknown tool `{params.name[:100]}`; choose from {', '.join(KINDS)}")
            question = KINDS[params.name].question.model_validate(params.arguments or {})
            answer = await queue.answer(question)
        except ValidationError as error:
            return refusal(reasons(error.errors()))
        except (PokernetsError, ChildFailure) as error:
            return refusal(str(error))
        text = types.TextContent(type="text", text=json.dumps(answer))
        return types.CallToolResult(content=[text], structured_content=answer)

    def refusal(why: str) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text=why)], is_error=True)

    def unreadable(error: ValidationError) -> types.JSONRPCError:
        """Return the answer to a line that is no message, which the library passes on as an error."""
        problem = error.errors()[0]
        message = problem["input"]
        with suppress(TypeError, ValueError, RecursionError):  # no text, or no JSON
            message = json.loads(message)
        number = message.get("id") if isinstance(message, dict) else None
        usable = type(number) is int or (isinstance(number, str) and number.isprintable())
        text = f"this line is not a message of JSON-RPC: {problem['msg']}"
        why = types.ErrorData(code=types.INVALID_REQUEST, message=text)
        return types.JSONRPCError(jsonrpc="2.0", id=number if usable else None, error=why)

    server = Server("pokernets", version=version(PROGRAM), on_list_tools=listed, on_call_tool=called)
    passed_on, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()

    async def receive() -> None:
        async with passed_on:
            async for item in read:
                if isinstance(item, ValidationError):
                    await write.send(SessionMessage(unreadable(item)))
                else:
                    await passed_on.send(item)

    async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        await server.run(messages, write, server.create_initialization_options())
