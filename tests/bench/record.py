"""Record of a benchmark: its findings, and the command, code and machine behind them."""

from typing import Any

from poker.provenance import command_line, portable, provenance


def record(**found: Any) -> dict[str, Any]:
    return {**found, "command": portable(command_line()), **provenance()}
