"""The text of `--help`: groups with their options, the purpose of each evaluation, job and model, and all settings.

An option that a command runs states its purpose itself, in one line under the key `_help_`. Where `_settings_` beside
it explains settings, its help is these, and `--help-all` has the rest.
"""

from pathlib import Path
from string import Template
from typing import Any

import yaml
from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf, open_dict

from poker.run.commands import COMMANDS, RUNS_PROGRAM

CONF = Path(__file__).resolve().parent
_HELP, _SETTINGS = "_help_", "_settings_"
ROOTS = {"evaluate": "evaluate", "job": "data_gen", "model": "train"}
"""Root that runs an option of a group; these options say their purpose."""
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


_VARIANTS: dict[str, dict[str, dict[str, Any]]] = yaml.load((CONF / "variants.yaml").read_text(), _Loader)
"""Settings by group and option; `of` names the option that has the others."""


def _add_variants() -> None:
    """Let Hydra choose from the variants as from files."""
    for group, options in _VARIANTS.items():
        for name, settings in options.items():
            own = {key: value for key, value in settings.items() if key != "of"}
            base, package = settings["of"], "_global_" if group in ("net", "ring", "search") else None
            if group == "agents":
                own, base, package = {"name": name, **own}, f"{base}@_here_", f"agent.{name}"
            elif group == "adversaries":
                base, package = f"{base}@_here_", f"adversary.{name}"
            node = {"defaults": [base, "_self_"], **own}
            ConfigStore.instance().store(name, node, group, package, provider="conf/variants.yaml")


_add_variants()


def choices(group: str) -> list[str]:
    """The options of a configuration group."""
    return sorted([*(file.stem for file in (CONF / group).glob("*.yaml")), *_VARIANTS.get(group, ())])


def values_of(group: str, option: str) -> dict[str, Any]:
    """Settings of an option, with the defaults list of its file."""
    variant = _VARIANTS.get(group, {}).get(option)
    if variant is None:
        values: dict[str, Any] = yaml.load((CONF / group / f"{option}.yaml").read_text(), _Loader)
        bases = [base for base in values.get("defaults", ()) if isinstance(base, str) and base != "_self_"]
        above = values_of(group, bases[0].partition("@")[0]) if bases and not bases[0].startswith("/") else {}
        return {**above, **values}
    return {**values_of(group, variant["of"]), **{key: value for key, value in variant.items() if key != "of"}}


def experiments() -> dict[str, str]:
    """The command of each experiment: that of the group from which its defaults list chooses."""
    return {name: _command_of(name) for name in choices("experiment")}


def _command_of(experiment: str) -> str:
    """The command of an experiment, from its file or the experiment that it begins with; empty if neither says."""
    entries = values_of("experiment", experiment)["defaults"]
    chosen = {key.removeprefix("override /") for entry in entries if isinstance(entry, dict) for key in entry}
    others = [_command_of(entry) for entry in entries if isinstance(entry, str) and entry != "_self_"]
    return next((COMMANDS[root] for group, root in ROOTS.items() if group in chosen), next(iter(others), ""))


def nets() -> dict[str, list[str]]:
    """The options of the group `net` by model."""
    models = {net: values_of("net", net)["for_model"] for net in choices("net")}
    return {model: [net for net in models if models[net] == model] for model in dict.fromkeys(models.values())}


def purposes(group: str) -> dict[str, str]:
    """The purpose of each option of a group; empty where its file does not say."""
    options = {name: values_of(group, name) for name in choices(group)}
    return {name: values.get(group, values).get(_HELP, "") for name, values in options.items()}


def listed(root: str, *groups: str) -> str:
    """The resolver of the lists in `--help`: groups with their options, and the experiments that the command runs."""
    mine = [name for name, its in experiments().items() if its == COMMANDS[root]]
    options = {"experiment": ", ".join(mine)} if mine else {}
    options |= {group: ", ".join(choices(group)) for group in groups}
    if "net" in groups:
        options["net"] = "; ".join(f"{', '.join(its)} for model={model}" for model, its in nets().items())
    for group in set(groups) & set(ROOTS):
        lines = purposes(group)
        width = max(map(len, lines))
        options[group] = "".join(f"\n  {name:{width}}  {what}".rstrip(" ") for name, what in lines.items())
    return "\n".join(f"{group}: {options[group]}".replace(": \n", ":\n") for group in sorted(options))


OmegaConf.register_new_resolver("listed", listed, replace=True)
OmegaConf.register_new_resolver("command", COMMANDS.get, replace=True)


def help_of(config: DictConfig, root: str, *, everything: bool) -> str:
    """The text of `--help` for a configuration composed with its node `hydra`, which holds the template."""
    group = next(group for group, its in ROOTS.items() if its == root)
    node = OmegaConf.select(config, group)
    if node is not None and _SETTINGS in node and not everything:
        option = config.hydra.runtime.choices[group]
        return _short_help(config, f"{COMMANDS[root]} {option if RUNS_PROGRAM else f'{group}={option}'}", node)
    template = Template(config.hydra.help.template)
    with open_dict(config):
        del config["hydra"]
    return template.substitute(CONFIG=OmegaConf.to_yaml(config))


def _short_help(config: DictConfig, command: str, node: DictConfig) -> str:
    """A command's purpose, and the settings that its option explains, with their values."""
    settings = [(_with_value(config, key), str(what)) for key, what in node[_SETTINGS].items()]
    width = max(len(setting) for setting, _ in settings)
    lines = [f"  {setting:{width}}  {what}" for setting, what in settings]
    return "\n".join([f"{command}: {node[_HELP]}", "", *lines, "", f"{command} --help-all lists all settings."])


def _with_value(config: DictConfig, key: str) -> str:
    """`KEY=VALUE`; as it is where `key` says which values there are, or only the user knows one."""
    if "=" in key:
        return key
    value = OmegaConf.select(config, key)
    return f"{key}={'null' if value is None else str(value).lower() if isinstance(value, bool) else value}"


def without_help(node: Any) -> Any:
    """Plain values of a node without its purpose."""
    return (
        {key: value for key, value in node.items() if key not in (_HELP, _SETTINGS)} if isinstance(node, dict) else node
    )
