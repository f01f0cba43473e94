"""`pokernets VERB ...`: the entry points of a clone under one name, with every setting that they have.

A verb says which entry point runs and what; a first argument that is no KEY=VALUE is the value of one setting, as in
`pokernets solve FILE`. Verbs that seat agents take the bundle of the installation, unless the command line names
artifacts, a scale, an experiment or a game that the bundle does not have. Settings without a verb run what they choose:
`pokernets model=leaf`, as Lightning starts the other processes of a training.
"""

import os
import sys
from typing import NamedTuple

from pokernets import TRAINED, __version__, unsupported

_OTHERS = ("artifacts=", "scale=", "experiment=")
_BUNDLED = "game=holdem_nolimit_2p"
_KERNELS = "kernels"
_COMPILES = "compile all kernels for this machine, once"


class Verb(NamedTuple):
    """The root of the configuration that a verb runs, the group of which it chooses, and what, if that is fixed.
    `first` is the setting that a bare first argument gives."""

    root: str
    group: str
    option: str
    first: str
    seats: bool
    purpose: str


VERBS = {
    "play": Verb("evaluate", "evaluate", "play", "", True, "a table in the browser at which you play the agent"),
    "match": Verb("evaluate", "evaluate", "match", "", True, "agents against each other: match agents=[NAME,...]"),
    "review": Verb("evaluate", "evaluate", "play", "log", True, "the table, with your hands to review: review FILE"),
    "solve": Verb("evaluate", "evaluate", "spot", "spot", False, "a flop, turn or river spot: solve FILE"),
    "flops": Verb("evaluate", "evaluate", "flops", "spot", False, "two ranges on many flops: flops FILE [flops=184]"),
    "evaluate": Verb("evaluate", "evaluate", "", "evaluate", False, "any other measurement: evaluate NAME"),
    "mcp": Verb("evaluate", "evaluate", "mcp", "", True, "tools for a language model, over stdin and stdout (MCP)"),
    "train": Verb("train", "model", "", "model", False, "train a net: train NAME"),
    "data": Verb("data_gen", "job", "", "job", False, "make what nets and agents need: data JOB"),
}


def main() -> None:
    """Run the verb that the command line begins with."""
    name, *arguments = sys.argv[1:] or ["--help"]
    verb = VERBS.get(name) or _chosen(sys.argv[1:])
    if name == "--version":
        print(f"pokernets {__version__}")
    elif name in ("--help", "-h"):
        print(_usage())
    elif reason := unsupported():
        print(f"error: {reason}", file=sys.stderr)
        sys.exit(2)
    elif name == _KERNELS and arguments:
        print(f"pokernets {_KERNELS}: {_COMPILES}; it takes no settings")
        sys.exit(0 if set(arguments) <= {"--help", "-h"} else 2)
    elif name == _KERNELS:
        from poker.kernels.ahead import compile_missing  # noqa: PLC0415 (llvmlite, which --help does without)

        compile_missing()
    elif verb is not None:
        os.environ["POKERNETS_STARTED_BY"] = "pokernets"  # before `poker.run.commands` is imported
        from conf.launch import launch, task_of  # noqa: PLC0415

        sys.argv[1:] = overrides(verb, arguments) if name in VERBS else sys.argv[1:]

        launch(verb.root, task_of(verb.group))
    else:
        print(f"error: pokernets has no `{name}`; it has {', '.join([*VERBS, _KERNELS])}", file=sys.stderr)
        sys.exit(2)


def _chosen(arguments: list[str]) -> Verb | None:
    """The verb of the first group from which settings choose."""
    groups = {f"{verb.group}=": verb for verb in VERBS.values() if not verb.option}
    return next((groups[group] for word in arguments for group in groups if word.startswith(group)), None)


def overrides(verb: Verb, arguments: list[str]) -> list[str]:
    """The arguments of the entry point for those of the verb, flags before settings."""
    from conf.arguments import flags_and_settings  # noqa: PLC0415

    flags, settings = flags_and_settings(arguments)
    if verb.first and settings and "=" not in settings[0] and settings[0][0] not in "+~":
        settings[0] = f"{verb.first}={settings[0]}"
    arguments = [*flags, *settings]
    given = [f"{verb.group}={verb.option}"] if verb.option else []
    other_game = any(argument.startswith("game=") and argument != _BUNDLED for argument in arguments)
    if verb.seats and not other_game and not any(argument.startswith(_OTHERS) for argument in arguments):
        given += ["scale=laptop", f"artifacts={TRAINED / 'laptop.bundle'}"]
    return [*given, *arguments]


def _usage() -> str:
    purposes = {name: verb.purpose for name, verb in VERBS.items()} | {_KERNELS: _COMPILES}
    verbs = "".join(f"  {name:10}{purpose}\n" for name, purpose in purposes.items())
    return f"""pokernets VERB [KEY=VALUE ...]
{verbs}`pokernets VERB --help` lists all settings, `pokernets --version` prints the version.
What is made and measured goes to artifacts/ and runs/ in the current folder."""
