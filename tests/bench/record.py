"""Record of a benchmark: its findings, and the command, code and machine behind them."""

import argparse
import json
from collections.abc import Callable
from typing import Any

from conf.arguments import command_line
from poker.store.provenance import portable, provenance


def record(**content: Any) -> dict[str, Any]:
    return {**content, "command": portable(command_line()), **provenance()}


def run_into_file(name: str, counted: str, measure: Callable[[int, list[str]], dict[str, Any]]) -> None:
    """Call `measure` with what the command line `COUNT FILE [key=value ...]` gives, and write the result to FILE."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.bench.{name}")
    parser.add_argument(counted, type=int)
    parser.add_argument("output")
    parser.add_argument("settings", nargs="*", metavar="key=value")
    given = parser.parse_args()
    content = measure(getattr(given, counted), given.settings)
    with open(given.output, "w") as file:
        json.dump(content, file, indent=1)
