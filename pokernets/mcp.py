"""`pokernets mcp`: questions as tools of a language model, by the Model Context Protocol over stdin and stdout."""

import importlib.util
import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from poker.commands import how_to_install
from poker.errors import PokernetsError
from poker.play.lineup import AgentSpec
from poker.rules import Rules


def run(
    *, game: Rules, agents: Sequence[AgentSpec], reviewer: AgentSpec | None, threads: int, processes: int | None
) -> None:
    """Answer until stdin ends, in `processes` as for a `Pool`."""
    if importlib.util.find_spec("mcp") is None:
        raise PokernetsError(f"tools for language models need `mcp`, which is not installed: {how_to_install('mcp')}")
    import anyio  # noqa: PLC0415 (an extra)

    from pokernets.questions import Desk  # noqa: PLC0415

    anyio.run(_serve, Desk(game, agents, reviewer, threads, processes))


async def _serve(desk: Any) -> None:
    import anyio.to_thread  # noqa: PLC0415
    from mcp.server.lowlevel import Server  # noqa: PLC0415
    from mcp.server.stdio import stdio_server  # noqa: PLC0415
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool  # noqa: PLC0415
    from pydantic import ValidationError  # noqa: PLC0415

    from poker.agents.remote import AgentFailure  # noqa: PLC0415
    from pokernets import __version__  # noqa: PLC0415
    from pokernets.questions import QUESTIONS, reasons  # noqa: PLC0415

    tools = [
        Tool(name=name, description=" ".join(str(kind.__doc__).split()), input_schema=kind.model_json_schema())
        for name, kind in QUESTIONS.items()
    ]

    async def listed(_context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def called(_context: Any, params: CallToolRequestParams) -> CallToolResult:
        try:
            if params.name not in QUESTIONS:
                raise PokernetsError(f"there is no tool `{params.name[:100]}`; there are {', '.join(QUESTIONS)}")
            question = QUESTIONS[params.name].model_validate(params.arguments or {})
            text, failed = json.dumps(await anyio.to_thread.run_sync(partial(desk.answer, "", question))), False
        except ValidationError as error:
            text, failed = reasons(error.errors()), True
        except (PokernetsError, AgentFailure) as error:
            text, failed = str(error), True
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=failed)

    server = Server("pokernets", version=__version__, on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
