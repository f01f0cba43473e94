"""Record of a benchmark: its findings, and the command, code and machine behind them."""

from typing import Any

from conf.arguments import command_line
from poker.provenance import portable, provenance


def record(**content: Any) -> dict[str, Any]:
    return {**content, "command": portable(command_line()), **provenance()}
