"""What a benchmark leaves: what it found, and the command, the code and the machine that it was found with."""

from typing import Any

from poker.provenance import command_line, portable, provenance


def record(**found: Any) -> dict[str, Any]:
    return {**found, "command": portable(command_line()), **provenance()}
