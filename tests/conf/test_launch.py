"""A mistyped command line gets one line that names the thing and the remedy, and exit status 2."""

import errno
import io
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import QuotedString
from omegaconf import DictConfig, OmegaConf

from conf.arguments import flags_and_settings, without_guesses
from conf.compose import call, chosen, compose, resolve
from conf.help import CONF, choices, experiments, nets, purposes
from conf.launch import launch
from conf.signatures import ConfigurationError, check
from poker.game.rules import Rules
from poker.report.report import Table
from poker.run.commands import COMMANDS
from poker.run.progress import Console
from poker.store.artifacts import write_artifact
from tests.commands import run_here
from tests.killed import ROOT

run, evaluate = partial(run_here, "data_gen"), partial(run_here, "evaluate")


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        (["job=blueprint", "job.iterationz=3"], "there is no setting 'job.iterationz'; did you mean 'iterations'?"),
        (["job=bluprint"], "there is no job=bluprint; did you mean 'blueprint'?"),
        (["job=null"], "job=null: job takes a name; it can be abstraction, blueprint"),
        (["job=blueprint", "game=1"], "game=1: game takes a name; it can be acpc, "),
        (["job=blueprint", "game=kuhn,2"], "game=kuhn,2: game takes a name; it can be acpc, "),
        (["job=blueprint", "game=range(1,3)"], "game takes a name; it can be acpc, "),
        (["job=blueprint", "bets=[[[[[1]]]]]"], "bets=[[[[[1]]]]]: bets takes a name; it can be demo, "),
        (["job=blueprint", "solver=[1]"], "solver=[1]: solver takes a name; it can be "),
        (["job=blueprint", "+exploration=true"], "exploration takes a name; it can be "),
        (["job=blueprint", "game=kuhm"], "did you mean 'kuhn'?"),
        (["nonsense=1"], "there is no setting 'nonsense'"),
        (["exploratio=leduc"], "there is no setting 'exploratio'; did you mean 'exploration'?"),
    ],
)
def test_misspelt_settings_are_named(overrides: list[str], named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        compose("data_gen", overrides)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_parameter_that_no_file_sets_is_told_with_the_way_to_add_it() -> None:
    message = r"'trainer\.barebones' to change; \+trainer\.barebones=VALUE adds it"
    with pytest.raises(ConfigurationError, match=message):
        compose("train", ["model=leaf", "trainer.barebones=true"])


def test_wrong_type_is_named() -> None:
    config = compose("data_gen", ["job=blueprint", "job.bits=many"])
    with pytest.raises(ConfigurationError, match="'bits' must be int, not 'many'"):
        call(config.job)


def test_types_that_are_imported_for_type_checkers_alone_are_no_error() -> None:
    check({"_target_": "lightning.pytorch.loggers.WandbLogger", "offline": True})
    with pytest.raises(ConfigurationError, match="WandbLogger: 'offline' must be bool, not 'yes'"):
        check({"_target_": "lightning.pytorch.loggers.WandbLogger", "offline": "yes"})


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["solver.threads=two"], "'threads' must be int or null, not 'two'"),
        (["+solver.fo=1"], "ExternalSampling has no parameter 'fo'"),
        (["solver=dcfr", "+solver.gamma=2"], "ExactSolver has no parameter 'gamma'"),
    ],
)
def test_settings_that_a_part_passes_on_are_checked_as_its_own(overrides: list[str], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        call(compose("data_gen", ["job=blueprint", "game=kuhn", *overrides]).job)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["evaluate=match", "agents=[random]", "hands=many"], "MatchSettings: 'hands' must be int, not 'many'"),
        (["evaluate=demo", "+evaluate.colour=1"], "demo.run has no parameter 'colour'"),
        (
            ["evaluate=match", "agents=[depth_limited_exploit,random]", "+agent.depth_limited_exploit.safety=3"],
            "DepthLimitedExploitAgent: 'safety' must be str, not 3",
        ),
    ],
)
def test_settings_of_agents_and_matches_that_are_passed_on_are_checked(overrides: list[str], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        check(resolve(compose("evaluate", overrides).evaluate))


def test_parameters_that_a_command_does_not_set_are_the_settings_of_their_names() -> None:
    node = resolve(compose("data_gen", ["job=leaf_states", "seed=7", "game=kuhn"]).job)
    assert (node["game"]["name"], node["settings"]["seed"]) == ("kuhn", 7)
    assert node["blueprint"] == "artifacts/demo/blueprint"
    node = resolve(compose("evaluate", ["evaluate=match", "agents=[random]", "hands=6"]).evaluate)
    assert (node["settings"]["hands"], node["fallback"]["settings"]["name"]) == (6, "blueprint")
    assert set(node["agents"]) == {"_target_", "_recursive_", "random"}


def test_unknown_and_missing_parameters_are_named() -> None:
    config = compose("data_gen", ["job=blueprint", "+job.colour=red"])
    with pytest.raises(ConfigurationError, match=r"data_gen\.blueprint\.run has no parameter 'colour'"):
        call(config.job)
    config = compose("data_gen", ["job=blueprint", "~job.bits"])
    with pytest.raises(ConfigurationError, match="needs a value for 'bits'"):
        call(config.job)


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        (["evaluate=replay"], "give log=FILE, whose hands are played again"),
        (["evaluate=spot"], "give spot=FILE, the post-flop spot to solve"),
        (["evaluate=acpc_client"], "give port=PORT, where the dealer expects the player"),
        (["evaluate=match", "game=acpc"], "give game.path=FILE, a game definition file of the ACPC"),
    ],
)
def test_missing_values_say_what_to_give(overrides: list[str], named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve(compose("evaluate", overrides)["evaluate"])
    assert str(caught.value).startswith(named)
    assert "\n" not in str(caught.value)


def test_command_line_errors_are_one_line_and_status_two(tmp_path: Path) -> None:
    for arguments, named in (
        ([], "choose what to run: job=NAME"),
        (["job=blueprint", "jb.iterations=1"], "there is no setting 'jb'; did you mean 'job'?"),
        (["job=blueprint", f"artifacts={tmp_path}/made", f"runs={tmp_path}/runs"], "data_gen job=abstraction"),
    ):
        done = run(*arguments)
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert named in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "made").exists()


def test_names_of_files_need_no_quotes(tmp_path: Path) -> None:
    log = tmp_path / "HH #2 - $0.01, Hold'em = Hände (1).txt"
    log.write_text("no hands")
    (tmp_path / "Grüße").mkdir()
    done = evaluate("evaluate=replay", f"log={log}", f"runs={tmp_path}/Grüße/runs")
    assert f"error: {log}" in done.stderr
    assert (tmp_path / "Grüße" / "runs").is_dir()


@pytest.mark.parametrize("override", ["agents=[equity,", "log=a=b.txt", "log=Hände.txt", "match"])
def test_what_cannot_be_read_is_told_with_the_way_to_write_it(override: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        compose("evaluate", ["evaluate=replay", override])
    assert str(caught.value).startswith(f"cannot read {override!r}: settings are KEY=VALUE and lists have no spaces")
    assert str(caught.value).endswith("""'KEY="VALUE"'""")


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run("job=abstraction", f"artifacts={tmp_path}/made", f"runs={tmp_path}/file/runs")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert done.stderr.startswith(f"error: {tmp_path}/file/runs")
    assert ": Not a directory; what was written is kept" in done.stderr


@pytest.mark.parametrize("place", [(), ("/data/x",)])
def test_a_full_disk_is_told_with_the_remedy(place: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    def write(_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", *place)

    with mock.patch.object(sys, "argv", ["evaluate.py"]), pytest.raises(SystemExit, match="2"):
        launch("evaluate", write)
    assert capsys.readouterr().err.endswith(
        f"error: {'/data/x: ' if place else ''}No space left on device; free space there, or write to another disk with"
        " outputs=DIR and runs=DIR; what was written is kept, and the same command continues where it can\n"
    )


def test_a_terminal_in_ascii_gets_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "argv", ["evaluate.py"])
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    launch("evaluate", lambda _: Table(("mbb/hand",), [("+36 ± 24",)], "♠").print(Console()))
    sys.stdout.flush()
    assert b"+36 ? 24" in raw.getvalue()


def test_what_to_run_first_is_told_for_the_scale_the_game_and_the_place_of_the_command(tmp_path: Path) -> None:
    arguments = ["job=leaf_table", "scale=laptop", "game=flop_holdem_nolimit", f"runs={tmp_path}"]
    done = run(*arguments, f"artifacts={tmp_path}/made")
    remedy = f"job=abstraction scale=laptop game=flop_holdem_nolimit artifacts={tmp_path}/made"
    assert done.stderr.strip().endswith(f"Make it with: python -m data_gen {remedy}")
    done = run("job=leaf_table", "game.stacks=[100,100]", f"artifacts={tmp_path}/a b", f"runs={tmp_path}")
    remedy = f"job=abstraction 'game.stacks=[100,100]' 'artifacts=\"{tmp_path}/a b\"'"
    assert done.stderr.strip().endswith(f"Make it with: python -m data_gen {remedy}")


def test_an_experiment_of_another_command_is_told_with_it() -> None:
    done = evaluate("experiment=leduc_training")
    message = "error: experiment=leduc_training is run by: python -m data_gen experiment=leduc_training"
    assert (done.returncode, done.stderr.strip()) == (2, message)


@pytest.mark.parametrize(("model", "net", "other"), [("leaf", "hand", "opponent"), ("opponent", "mlp", "leaf")])
def test_a_net_of_another_model_is_refused(model: str, net: str, other: str, tmp_path: Path) -> None:
    done = run_here("train", f"model={model}", f"net={net}", f"runs={tmp_path}")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: net={net} is for model={other}; model={model} takes ")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model.data.streets=1"], "'streets' must be list or null, not 1"),
        (["model.net.hidden=64"], "'hidden' must be list, not 64"),
        (["model.data.seed=-1"], "'seed' must be at least 0, not -1"),
    ],
)
def test_lists_and_seeds_of_nets_are_checked(overrides: list[str], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        check(resolve(compose("train", ["model=leaf", *overrides]).model))


def test_constants_of_a_game_that_has_none_are_asked_for() -> None:
    config = compose("data_gen", ["job=blueprint", "solver=uct", "game=flop_holdem_nolimit"])
    with pytest.raises(
        ConfigurationError, match=r"solver=uct has constants .* give exploration=GAME .*leduc.* or solver"
    ):
        resolve(config.job)
    given = ["solver.ceiling=5.0", "solver.potential=null"]
    resolve(compose("data_gen", ["job=blueprint", "solver=uct", "game=flop_holdem_nolimit", *given]).job)


def test_the_ladder_has_a_rival_where_there_is_one(tmp_path: Path) -> None:
    rival = tmp_path / "rival" / "blueprint"
    config = compose("evaluate", ["evaluate=ladder", "agents=[random,rival]", f"agent.optional.rival={rival}"])
    assert [spec.name for spec in call(config.agent)] == ["random"]
    write_artifact(rival, "blueprint", config={}, arrays={})
    assert [spec.name for spec in call(config.agent)] == ["random", "rival"]


def test_help_lists_groups_and_settings() -> None:
    done = run("--help")
    assert done.returncode == 0
    for word in ("job:", "game: ", "scale: ", "holdem_nolimit_2p", "artifacts:"):
        assert word in done.stdout


@pytest.mark.parametrize(("root", "group"), [("evaluate", "evaluate"), ("data_gen", "job"), ("train", "model")])
def test_help_says_in_a_line_what_each_option_is_for(root: str, group: str) -> None:
    """Each option's file has the line (`_help_`), which is not passed to anything built from it."""
    lines = purposes(group)
    assert list(lines) == choices(group)
    text = run_here(root, "--help").stdout
    for option, purpose in lines.items():
        assert re.search(rf"^  {option} +{re.escape(purpose)}$", text, re.MULTILINE)
        assert len(purpose) < 95
    assert len(set(lines.values())) == len(lines)
    overrides = [f"{group}={'ring' if group == 'evaluate' else choices(group)[0]}"]
    assert "_help_" not in resolve(compose(root, overrides)[group])


@pytest.mark.parametrize("option", ["match", "play", "spot", "flops", "mcp"])
def test_help_of_a_command_is_its_own_dozen_settings(option: str) -> None:
    """Every setting that it explains is one, and `--help-all` has the rest."""
    arguments = (f"evaluate={option}", "agents=[random]")[: 1 if option in ("spot", "flops") else 2]
    text = evaluate(*arguments, "--help").stdout
    assert len(text.splitlines()) < 20
    assert f"evaluate={option} --help-all lists all settings" in text
    config = compose("evaluate", list(arguments))
    explained = [key.partition("=")[0] for key in config.evaluate["_settings_"]]
    assert 5 <= len(explained) <= 13
    assert [key for key in explained if key not in GROUPS and not _is_setting(config, key)] == []
    assert "Groups and their options" in evaluate(*arguments, "--help-all").stdout


@pytest.mark.parametrize(
    ("arguments", "flags", "settings"),
    [
        (["leaf", "-m", "seed=1,2"], ["-m"], ["leaf", "seed=1,2"]),
        (["--cfg", "job", "leaf", "-m", "seed=1"], ["--cfg", "job", "-m"], ["leaf", "seed=1"]),
        (["leaf", "--info", "a=b"], ["--info"], ["leaf", "a=b"]),
        (["a=b", "--config-dir", "c", "~d"], ["--config-dir", "c"], ["a=b", "~d"]),
    ],
)
def test_flags_may_stand_anywhere(arguments: list[str], flags: list[str], settings: list[str]) -> None:
    assert flags_and_settings(arguments) == (flags, settings)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(("player=1_1_1", "1_1_1"), ("a.model.player=1e3", "1e3"), ("player=123", "123"), ("player=Ann", "Ann")),
        *(("player=null", None), ("hands=1_000", "1_000"), ("stacks=[1_0,2]", ["1_0", 2]), ("x={a:1_0}", {"a": "1_0"})),
        *(("rate=1e-3", 0.001), ("hands=10", 10), ("x='1_0,2_0'", "1_0,2_0"), ("log=1_1.txt", "1_1.txt")),
        *(("x=-1_0.5", "-1_0.5"), ("x=1_0e3", "1_0e3")),
    ],
)
def test_digits_with_underscores_and_players_are_text(argument: str, value: object) -> None:
    """Hydra takes `1_1_1` for 111, and `1e3` for 1000.0, which is no name but a learning rate."""
    [parsed] = OverridesParser.create().parse_overrides([without_guesses(argument)])
    assert _plain(parsed.value()) == value


def _plain(value: Any) -> Any:
    """A value of Hydra's parser with plain text for what was quoted."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value.text if isinstance(value, QuotedString) else value


@pytest.mark.parametrize("argument", ["hands=1_000", "hands=1e3", "seed=1_0"])
def test_numbers_are_written_in_digits(argument: str) -> None:
    done = evaluate("evaluate=match", "agents=[always_call,random]", argument)
    assert done.returncode == 2
    assert f"'{argument.partition('=')[0]}' must be int, not" in done.stderr


def test_a_flag_between_settings_is_one() -> None:
    assert "seed: 3" in run("job=abstraction", "--cfg", "job", "seed=3").stdout


def test_help_that_nobody_reads_to_the_end_is_no_error() -> None:
    command = f"{shlex.quote(sys.executable)} -m data_gen --help | true"
    done = subprocess.run(command, shell=True, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stderr == ""


def test_help_lists_what_the_command_takes_and_all_of_it_somewhere() -> None:
    """Help lists the groups that a root's own parts choose from, and the experiments that it runs."""
    lists = {root: listed_by(CONF / f"{root}.yaml") for root in ("evaluate", "data_gen", "train")}
    assert not {"job", "model", "net", "source"} & set(lists["evaluate"])
    assert not {"evaluate", "agents", "experiment"} & set(lists["train"])
    experiments = [name for groups in lists.values() for name in groups.get("experiment", "").split(", ") if name]
    assert sorted(experiments) == choices("experiment")
    groups = {folder.name for folder in CONF.iterdir() if any(folder.glob("*.yaml"))}
    assert groups == set().union(*lists.values())


def listed_by(root: Path) -> dict[str, str]:
    """Listed options by group."""
    lines = [line.partition(":") for line in OmegaConf.load(root).hydra.help.template.splitlines()]
    return {group: options.strip() for group, _, options in lines if group and (CONF / group).is_dir()}


@pytest.mark.parametrize("game", [name for name in choices("game") if name != "acpc"])
def test_every_game_is_playable(game: str) -> None:
    config = compose("data_gen", [f"game={game}"])
    assert isinstance(call(config.game), Rules)


GROUPS = sorted(folder.name for folder in CONF.iterdir() if any(folder.glob("*.yaml")))
OPTIONS = [(group, option) for group in GROUPS if group != "experiment" for option in choices(group)]


def test_no_setting_of_a_measure_has_the_name_of_a_group() -> None:
    """Its value would be read as an option of the group; a mapping, which changes settings of the option, may."""
    groups = {folder.name for folder in CONF.iterdir()}
    for file in (CONF / "evaluate").glob("*.yaml"):
        settings = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
        assert isinstance(settings, dict)
        assert not {name for name, value in settings.items() if name in groups and not isinstance(value, dict)}, (
            file.name
        )


def test_nobody_waits_long_for_an_agent_at_the_table_unless_told_so() -> None:
    for overrides, seconds in (([], 3.0), (["search=workstation"], 3.0), (["search.seconds_per_decision=null"], None)):
        config = compose("evaluate", ["evaluate=play", *overrides])
        assert config.agent.depth_limited.search.seconds_per_decision == seconds
        assert config.agent.depth_limited.search.solver.threads == 2


@pytest.mark.parametrize(
    "selected",
    [
        ["evaluate=match", f"agents=[{','.join(choices('agents'))}]"],
        ["experiment=flop_holdem_exploitability"],
        ["experiment=flop_holdem_steps"],
    ],
    ids=lambda selected: selected[0],
)
def test_agents_that_solve_have_the_same_settings(selected: list[str]) -> None:
    agents = compose("evaluate", selected)["agent"]
    solving = [
        agent for name, agent in agents.items() if name[0] != "_" and agent["_target_"].endswith(".DepthLimitedAgent")
    ]
    assert len(solving) >= 4
    assert all(agent.search == solving[0].search for agent in solving)


@pytest.mark.parametrize("root", ["data_gen", "evaluate", "train"])
def test_every_root_composes(root: str) -> None:
    assert compose(root, []).game.name == "holdem_nolimit_2p"


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_every_option_composes(group: str, option: str) -> None:
    if group == "net":
        [model] = [model for model, options in nets().items() if option in options]
        assert compose("train", [f"model={model}", f"net={option}"]).model.net is not None
        return
    root = {"evaluate": "evaluate", **dict.fromkeys(("model", "trainer", "logger", "strength"), "train")}.get(
        group, "data_gen"
    )
    prefix = "" if group in _defaults_of(root) else "+"
    config = compose(root, [f"{prefix}{group}={option}"])
    if group in ("agents", "adversaries"):
        assert list(config[{"agents": "agent", "adversaries": "adversary"}[group]]) == [option]
    elif group == "logger":
        assert list(config.loggers) == [option]
    elif group == "strength":
        assert config.callbacks.strength.match.agents
    elif group == "ring":  # of games with more than two players: other settings, not a node
        assert config.artifacts == f"artifacts/demo_{option.split('_')[2]}"
    else:
        assert config[group] is not None


@pytest.mark.parametrize("scale", choices("scale"))
@pytest.mark.parametrize("job", ["abstraction", "blueprint", "leaf_table", "leaf_states", "continuations"])
def test_every_scale_has_the_settings_of_the_jobs(job: str, scale: str) -> None:
    config = compose("data_gen", [f"job={job}", f"scale={scale}"])
    resolve(config.job)
    assert config.artifacts == f"artifacts/{scale}"


@pytest.mark.parametrize("name", choices("experiment"))
def test_every_experiment_is_the_command_that_it_names(name: str) -> None:
    command = experiments()[name]
    assert f"{command} experiment={name}" in (CONF / "experiment" / f"{name}.yaml").read_text()
    [root] = [root for root in COMMANDS if COMMANDS[root] == command]
    config = compose(root, [f"experiment={name}"])
    node = chosen(config, {"data_gen": "job", "evaluate": "evaluate", "train": "model"}[root])
    if root == "data_gen":
        node.output = "known while a job runs"
    check(resolve(node))


def _is_setting(config: DictConfig, key: str) -> bool:
    above, _, name = key.rpartition(".")
    return name in (OmegaConf.select(config, above) if above else config)


def _defaults_of(root: str) -> set[str]:
    text = (CONF / f"{root}.yaml").read_text() + (CONF / "base.yaml").read_text()
    entries = [
        line.strip("- ").removeprefix("optional ") for line in text.splitlines() if line.strip().startswith("- ")
    ]
    return {entry.split(":")[0] for entry in entries}


_IMPORTS = """
import sys
from conf.arguments import flags_and_settings, without_guesses
from conf.compose import chosen, compose, resolve
from conf.signatures import check
for command in ("match", "play", "lbr"):
    check(resolve(chosen(compose("evaluate", [f"evaluate={command}", "agents=[depth_limited]"]), "evaluate")))
sys.exit("torch" in sys.modules)
"""


def test_agents_that_solve_are_checked_without_torch() -> None:
    """Torch takes seconds to import: only the processes that play import it, once they have a net."""
    assert subprocess.run([sys.executable, "-c", _IMPORTS], check=False, cwd=ROOT).returncode == 0
