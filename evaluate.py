"""`python evaluate.py evaluate=match|exploitability|acpc|...`: how strong agents are. `--help` lists every setting."""

from typing import Any

from omegaconf import DictConfig

from conf.launch import call, chosen, launch, resolve
from poker.provenance import configured


def evaluate(config: DictConfig) -> Any:
    """Run the evaluation that the command line names; its records tell every setting, those of agents included."""
    node = resolve(chosen(config, "evaluate"))
    with configured(node, {name: config[name] for name in ("runs", "artifacts")}):
        return call(node)


if __name__ == "__main__":
    launch("evaluate", evaluate)
