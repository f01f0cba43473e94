"""`pokernets mcp`: questions as tools of a language model, by the Model Context Protocol over stdin and stdout."""

import importlib.util
import json
from collections.abc import Sequence
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
        game: the game.
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

    anyio.run(_serve, Desk(game, agents, reviewer, threads, processes))


async def _serve(desk: Any) -> None:
    import anyio.to_thread  # noqa: PLC0415
    from mcp.server.lowlevel import Server  # noqa: PLC0415
    from mcp.server.stdio import stdio_server  # noqa: PLC0415
    from mcp_types import (  # noqa: PLC0415
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        TextContent,
        Tool,
        ToolAnnotations,
    )
    from pydantic import ValidationError  # noqa: PLC0415

    from poker.run.child import ChildFailure  # noqa: PLC0415
    from poker.studio.serving.questions import KINDS, described, reasons  # noqa: PLC0415

    tools = [
        Tool(
            name=name,
            title=kind.title,
            description=described(kind.question),
            input_schema=kind.question.model_json_schema(),
            output_schema=kind.answer.model_json_schema(),
            annotations=ToolAnnotations(
                title=kind.title,
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=False,
            ),
        )
        for name, kind in KINDS.items()
    ]

    async def listed(_context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def called(_context: Any, params: CallToolRequestParams) -> CallToolResult:
        try:
            if params.name not in KINDS:
                raise PokernetsError(f"unknown tool `{params.name[:100]}`; choose from {', '.join(KINDS)}")
            question = KINDS[params.name].question.model_validate(params.arguments or {})
            answer = await anyio.to_thread.run_sync(desk.answer, question)
        except ValidationError as error:
            return refusal(reasons(error.errors()))
        except (PokernetsError, ChildFailure) as error:
            return refusal(str(error))
        return CallToolResult(content=[TextContent(type="text", text=json.dumps(answer))], structured_content=answer)

    def refusal(why: str) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=why)], is_error=True)

    server = Server("pokernets", version=version(PROGRAM), on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
