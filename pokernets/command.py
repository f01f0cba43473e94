"""`pokernets VERB ...`: the entry points of a clone under one name, with all of their settings.

A verb chooses the entry point and its option. A first argument that is not KEY=VALUE is the value of one setting, as in
`pokernets solve FILE`. Verbs that need agents use the bundle of the installation, unless the command line names
artifacts, a scale, an experiment or a game that the bundle does not have.
"""

import os
import re
import runpy
import sys
from pathlib import Path
from typing import NamedTuple

from pokernets import ROOT, TRAINED, __version__, unsupported

_OTHERS = ("artifacts=", "scale=", "experiment=")
_BUNDLED = "game=holdem_nolimit_2p"
_KERNELS = "kernels"
_PLAIN = re.compile(r"[\w./-]+")
"""Values that need no quotes in Hydra's grammar."""
_COMPILES = "compile all kernels for this machine, once"


class Verb(NamedTuple):
    """A verb of the command.

    Attributes:
        script: the entry point, a file below the root.
        group: the configuration group from which the verb chooses.
        option: the option; empty if the user chooses it.
        first: the setting that a bare first argument gives; empty for none.
        seats: whether the verb needs agents.
        purpose: description for the help text.
    """

    script: str
    group: str
    option: str
    first: str
    seats: bool
    purpose: str


VERBS = {
    "play": Verb("evaluate.py", "evaluate", "play", "", True, "play the agent at a table in the browser"),
    "match": Verb("evaluate.py", "evaluate", "match", "", True, "play agents against each other: agents=[NAME,...]"),
    "review": Verb("evaluate.py", "evaluate", "play", "log", True, "review your hands in the browser: review FILE"),
    "solve": Verb("evaluate.py", "evaluate", "spot", "spot", False, "solve a flop, turn or river spot: solve FILE"),
    "flops": Verb("evaluate.py", "evaluate", "flops", "spot", False, "solve two ranges on many flops: flops FILE"),
    "evaluate": Verb("evaluate.py", "evaluate", "", "evaluate", False, "run another evaluation: evaluate NAME"),
    "mcp": Verb("evaluate.py", "evaluate", "mcp", "", True, "serve tools to a language model (MCP, stdin and stdout)"),
    "train": Verb("train.py", "model", "", "model", False, "train a net: train NAME"),
    "data": Verb("data_gen/__main__.py", "job", "", "job", False, "make the artifacts of nets and agents: data JOB"),
}


def main() -> None:
    """Run the verb that the command line begins with."""
    name, *arguments = sys.argv[1:] or ["--help"]
    verb = VERBS.get(name)
    if name == "--version":
        _print(f"pokernets {__version__}")
    elif name in ("--help", "-h"):
        _print(_usage())
    elif reason := unsupported():
        print(f"error: {reason}", file=sys.stderr)
        sys.exit(2)
    elif name == _KERNELS and arguments:
        print(f"pokernets {_KERNELS}: {_COMPILES}; it takes no settings")
        sys.exit(0 if set(arguments) <= {"--help", "-h"} else 2)
    elif name == _KERNELS:
        from poker.kernels.ahead import compile_missing  # noqa: PLC0415 (imports llvmlite, which --help does not need)

        compile_missing()
    elif verb is not None:
        os.environ["POKERNETS_STARTED_BY"] = "pokernets"  # before `poker.run.commands` is imported
        _run(verb.script, overrides(verb, arguments))
    else:
        print(f"error: unknown command `{name}`; choose from {', '.join([*VERBS, _KERNELS])}", file=sys.stderr)
        sys.exit(2)


def _print(text: str) -> None:
    """Print a text, unless the reader has closed the pipe, as `| true` does."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(script: str, arguments: list[str]) -> None:
    """Run an entry point as Python runs it.

    In an installation it is run as a module of this package. Otherwise its folder, which contains `models` and `conf`,
    would come first on the import path, and a user's project may have these names too.
    """
    sys.argv = [str(ROOT / script), *arguments]
    if Path(__file__).parent == ROOT:
        module = script.partition("/")[0].removesuffix(".py")
        runpy.run_module(f"{__package__}.{module}", run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")


def overrides(verb: Verb, arguments: list[str]) -> list[str]:
    """Translate the arguments of a verb to arguments of its entry point.

    Args:
        arguments: words after the verb.
    """
    chosen = [f"{verb.group}={verb.option}"] if verb.option else []
    words = [at for at, argument in enumerate(arguments) if not argument.startswith("-")]
    if verb.first and words and "=" not in (value := arguments[words[0]]) and value[0] not in "+~":
        arguments = [*arguments[: words[0]], _override(verb.first, value), *arguments[words[0] + 1 :]]
    other_game = any(argument.startswith("game=") and argument != _BUNDLED for argument in arguments)
    if verb.seats and not other_game and not any(argument.startswith(_OTHERS) for argument in arguments):
        chosen += ["scale=laptop", _override("artifacts", str(TRAINED / "laptop.bundle"))]
    return [*chosen, *arguments]


def _override(key: str, value: str) -> str:
    """Return KEY=VALUE in Hydra's grammar, with quotes if it needs them."""
    if _PLAIN.fullmatch(value):
        return f"{key}={value}"
    from conf.compose import overrides_of  # noqa: PLC0415 (Hydra is slow to import)

    return overrides_of({key: value})[0]


def _usage() -> str:
    purposes = {name: verb.purpose for name, verb in VERBS.items()} | {_KERNELS: _COMPILES}
    verbs = "".join(f"  {name:10}{purpose}\n" for name, purpose in purposes.items())
    return f"""pokernets VERB [KEY=VALUE ...]
{verbs}`pokernets VERB --help` lists all settings, `pokernets --version` prints the version.
Artifacts go to artifacts/ and reports to runs/ in the current folder."""
