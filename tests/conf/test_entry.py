"""A mistake on the command line gets one line and exit status 2; every option composes, and known settings stay."""

import contextlib
import dataclasses
import errno
import io
import json
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from conf.checks import check
from conf.compose import build, compose, message_of, overrides_of
from conf.entry import one_line_errors
from poker.run.errors import PokernetsError
from poker.store.artifacts import MissingArtifactError, open_artifact, write_artifact
from tests.commands import run_here
from tests.games import CONF, choices, load_rules, resolve
from tests.killed import ROOT

BUNDLE = f"artifacts={ROOT / 'models' / 'trained' / 'laptop.bundle'}"
MATCH = ("evaluate=match", "scale=laptop")
LIMITED = (*MATCH, "agents=[depth_limited,random]", BUNDLE)
TWO = "agents=[random,always_call]"


def refused(command: str, *arguments: str) -> str:
    """The one line that a command ends with."""
    done = run_here(command, *arguments)
    assert done.returncode == 2
    [*_, line] = done.stderr.strip().splitlines()
    assert line.startswith("error: ")
    return line


@pytest.mark.parametrize(
    ("command", "arguments", "named"),
    [
        # settings and options that do not exist, or cannot be read
        ("data_gen", ("job=blueprint", "job.iterationz=3"), "job.iterationz"),
        ("data_gen", (), "choose an artifact with job=NAME; --help lists the jobs"),
        ("data_gen", ("job=blueprint", "game=kuhm"), "game/kuhm"),
        ("evaluate", ("experiment=leduc_training",), "experiment/leduc_training"),
        ("evaluate", ("evaluate=match", "agents=[equity,"), "[equity,"),
        ("evaluate", ("evaluate=match", TWO, "+agent.random.x=3"), "'x'"),
        ("data_gen", ("job=blueprint", "~job.bits"), "'bits'"),
        ("evaluate", ("evaluate=match", TWO, "+agent.depth_limted.safety=resolve"), "did you mean agent.depth_limited"),
        ("evaluate", ("evaluate=match", TWO, "+agent.rondom.x=3"), "no such agent; did you mean agent.random?"),
        ("evaluate", ("evaluate=lbr", "+adversary.lbr_fold_cal.x=3"), "did you mean adversary.lbr_fold_call?"),
        ("evaluate", ("evaluate=match", TWO, "agent.random._target_=poker.X"), "Error loading 'poker.X'"),
        # values that only the user can give
        ("evaluate", ("evaluate=match", "game=acpc"), "game.path"),
        # values of a wrong type or out of range
        ("data_gen", ("job=blueprint", "job.bits=many"), "data_gen.blueprint.run: 'bits' must be int, not 'many'"),
        ("data_gen", ("job=blueprint", "solver=dcfr", "solver.threads=x"), "'threads' must be int, not 'x'"),
        ("evaluate", ("evaluate=match", TWO, "hands=1e3"), "MatchSettings: 'hands' must be int, not 1000.0"),
        ("evaluate", ("evaluate=match", TWO, "seed=-1"), "must be at least 0, not -1"),
        ("evaluate", ("evaluate=spot", "spot=a.spot", "memory_limit_gib=inf"), "'memory_limit_gib' must be positive"),
        ("evaluate", (*LIMITED, "search.seconds_per_decision=nan"), "'seconds_per_decision' must be a number, not nan"),
        ("evaluate", ("evaluate=match", TWO, "game.blinds=[100]"), "field `blinds` must be 2 amounts"),
        ("evaluate", ("evaluate=match", "agents=[equity]"), "`agents` has 1"),
        ("evaluate", (*LIMITED, "search.solver.device=cdua"), "device `cdua`: choose cpu, cuda"),
        # agents that do not play the game, games that cannot be read
        ("evaluate", (*LIMITED, "game=holdem_nolimit_6p"), "agents=[depth_limited_ring] plays at tables of"),
        ("evaluate", (*MATCH, "agents=[equity_policy,random]", "game=leduc"), "`equity_policy` plays heads-up hold'em"),
        ("evaluate", ("evaluate=match", TWO, "game=acpc", "game.path=none.game"), "game definition none.game"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_in_one_line(command: str, arguments: tuple[str, ...], named: str, tmp_path: Path) -> None:
    assert named in refused(command, *arguments, f"runs={tmp_path}/runs")


def test_an_agent_file_without_its_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "bare.yaml").write_text("_target_: poker.agents.simple.AlwaysCall\nname: bare\n")
    arguments = ("evaluate=match", "agents=[bare,random]", f"hydra.searchpath=[{tmp_path}]", f"runs={tmp_path}")
    assert "a file in agents/ lacks its first line: # @package agent.NAME" in refused("evaluate", *arguments)


def test_missing_artifact_is_named_with_the_command_that_makes_it(tmp_path: Path) -> None:
    """In the order in which it is to be made, before a line-up that lacks nothing is played."""
    runs = f"runs={tmp_path}/runs"
    blueprints = (*MATCH, "agents=[always_call,random,blueprint]", f"artifacts={tmp_path}", runs)
    for name in ("abstraction", "blueprint"):
        line = refused("evaluate", *blueprints)
        assert line.endswith(f"python -m data_gen job={name} scale=laptop artifacts={tmp_path}")
        config = {"rules": dataclasses.asdict(load_rules("leduc"))}
        write_artifact(tmp_path / name, name, config=config, arrays={}, counts={"num_buckets": [169, 5, 5, 5]})
    assert not any("STATE" in log.read_text() for log in tmp_path.glob("runs/matches/**/*.log"))
    line = refused("evaluate", *MATCH, "agents=[depth_limited_generated,random]", BUNDLE, runs)
    assert "leaf_table_generated" in line


@pytest.mark.parametrize("place", [(), ("/data/x",)])
def test_a_full_disk_is_named_with_the_remedy(place: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    @one_line_errors
    def main() -> None:
        raise OSError(errno.ENOSPC, "No space left on device", *place)

    with pytest.raises(SystemExit, match="2"):
        main()
    assert capsys.readouterr().err.startswith(
        f"error: {'/data/x: ' if place else ''}No space left on device; free space there, or write to another disk"
    )


def test_a_fault_of_the_program_is_no_error_of_the_user() -> None:
    assert message_of(ZeroDivisionError()) == ""


def test_interrupts_and_closed_pipes_end_quietly(capsys: pytest.CaptureFixture[str]) -> None:
    @one_line_errors
    @one_line_errors
    def main() -> None:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit, match="130"):
        main()
    assert capsys.readouterr().err == "interrupted; run the same command to continue\n"
    for words in ("data_gen --help | true", "pokernets --help | true", "data_gen --cfg job >&-"):
        command = f"{shlex.quote(sys.executable)} -m {words}"
        done = subprocess.run(command, shell=True, cwd=ROOT, check=True, capture_output=True, text=True)
        assert done.stderr == ""


def test_a_terminal_in_ascii_gets_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    one_line_errors(lambda: print("+36 ± 24"))()
    sys.stdout.flush()
    assert b"+36 ? 24" in raw.getvalue()


@pytest.mark.parametrize(("root", "group"), [("evaluate", "evaluate"), ("data_gen", "job")])
def test_help_lists_every_option_with_its_purpose(root: str, group: str) -> None:
    text = run_here(root, "--help").stdout
    for option in choices(group):
        [line] = [line for line in text.splitlines() if line.split()[:1] == [option]]
        assert len(line.split()) > 4
    assert "holdem_nolimit_2p" in text


def test_values_of_types_that_are_imported_for_type_checkers_alone_are_not_checked() -> None:
    check({"_target_": "lightning.pytorch.loggers.WandbLogger", "offline": True})
    with pytest.raises(PokernetsError, match=r"Linear: 'bias' must be bool, not 'yes'"):
        check([{"_target_": "torch.nn.Linear", "bias": "yes"}])


def test_settings_from_python_are_words_of_the_command_line() -> None:
    settings = {
        "hands": 6,
        "lineups": [["a+b", "c"]],
        "game.blinds": [2, 1],
        "log": "a b=c.txt",
        "x": None,
        "y": {"z": True},
    }
    words = overrides_of(settings)
    assert words == ["hands=6", 'lineups=[["a+b","c"]]', "game.blinds=[2,1]", 'log="a b=c.txt"', "x=null", "y={z:true}"]
    config = compose("evaluate", ["evaluate=match", words[0], words[2]])
    assert (config.hands, list(config.game.blinds)) == (6, [2, 1])
    with pytest.raises(PokernetsError, match="'hand'"):
        compose("evaluate", ["evaluate=match", "hand=3"])


class Results(Callback):
    """Notes what jobs return, as a sweeper sees it."""

    returned: ClassVar[list[Any]] = []

    def on_job_end(self, config: Any, job_return: JobReturn, **kwargs: Any) -> None:
        self.returned.append(job_return._return_value)


def test_matches_of_a_sweep_have_separate_folders_and_fail_alone(tmp_path: Path) -> None:
    callback = f"+hydra.callbacks.results._target_={__name__}.Results"
    Results.returned.clear()
    command = ("-m", "evaluate=match", TWO, "game=leduc", "cluster.processes=1", "aivat=false", "hands=20", callback)
    done = run_here("evaluate", *command, "seed=1,2", f"runs={tmp_path}")
    records = {
        file.relative_to(tmp_path).parts[0]: json.loads(file.read_text()) for file in tmp_path.rglob("results.json")
    }
    assert sorted(record["seed"] for record in records.values()) == [1, 2]
    assert all(f"seed-{record['seed']}" in folder for folder, record in records.items())
    means = [records[folder]["lineups"][0]["players"][0]["mean"] for folder in sorted(records)]
    assert Results.returned == pytest.approx(means)
    table = done.stderr[done.stderr.index("settings") :].splitlines()[1:3]
    assert [float(line.split()[0]) for line in table] == pytest.approx(means, rel=1e-5)
    done = run_here("evaluate", *command, "session=0,1", f"runs={tmp_path}/failed")
    assert done.returncode == 2
    assert "`hands` and `session` must be at least 1" in done.stderr.splitlines()[-1]
    table = done.stderr[done.stderr.rindex("settings") :].splitlines()[1:3]
    assert [line.split()[0] == "failed" for line in table] == [True, False]
    assert len(list((tmp_path / "failed").rglob("results.json"))) == 1


def test_blueprints_of_a_sweep_have_separate_folders(tmp_path: Path) -> None:
    places = (f"artifacts={tmp_path}/made", f"runs={tmp_path}/runs")
    length = ("job.iterations=2000", "job.seconds=null", "solver.threads=1")
    assert run_here("data_gen", "-m", "job=blueprint", "game=kuhn", *length, "seed=1,2", *places).returncode == 0
    made = [open_artifact(file.parent, "blueprint") for file in (tmp_path / "made").rglob("blueprint/manifest.json")]
    assert sorted(artifact.config["seed"] for artifact in made) == [1, 2]


TRAINING = ("callbacks", "data", "logger", "model", "net", "trainer")
"""Groups of train.py, whose options `tests/models` builds."""
_MATCH, LBR, BLUEPRINT = ("evaluate", "evaluate=match"), ("evaluate", "evaluate=lbr"), ("data_gen", "job=blueprint")
COMMANDS = {
    **dict.fromkeys(("agents", "blueprint", "cluster", "leaf", "search", "values"), _MATCH),
    "adversaries": LBR,
    **dict.fromkeys(("abstraction", "bets", "continuations", "exploration", "game", "ring", "scale"), BLUEPRINT),
    "solver": (*BLUEPRINT, "game=leduc"),
    "source": ("data_gen", "job=opponent_actions", "path=hands.txt"),
    "evaluate": ("evaluate",),
    "job": ("data_gen",),
}
"""The command that chooses from a group: its root and overrides."""
NODES = {"agents": "agent", "adversaries": "adversary", "ring": "scale"}
"""Where the options of a group stand, if not under its name."""
REQUIRED = {
    ("evaluate", "acpc_client"): ["port=1"],
    ("evaluate", "decisions"): ["file=[decisions.csv]"],
    ("evaluate", "flops"): ["spot=my.spot"],
    ("evaluate", "judge"): ["log=match.log"],
    ("evaluate", "replay"): ["log=hands.txt"],
    ("evaluate", "spot"): ["spot=my.spot"],
    ("game", "acpc"): ["game.path=my.game"],
    ("source", "irc"): ["path=irc"],
}
"""Settings that only the user can give."""
OPTIONS = [
    (folder.name, option)
    for folder in sorted(CONF.iterdir())
    if folder.name not in (*TRAINING, "experiment")
    for option in choices(folder.name)
    if (folder.name, option) != ("leaf", "none")  # no leaf is nothing to build
]
GOLDEN = json.loads((ROOT / "tests" / "golden" / "configurations.json").read_text())


@cache
def composed(root: str, *overrides: str) -> DictConfig:
    return compose(root, [*overrides])


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_every_option_is_composed_and_built(
    group: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.game").write_text(load_rules("leduc").to_acpc())
    (tmp_path / "hands.txt").touch()
    (tmp_path / "irc").mkdir()
    root, *overrides = COMMANDS[group]
    several = group in ("agents", "adversaries")  # whose options are composed once, together
    chosen = f"[{','.join(choices(group))}]" if several else option
    node = composed(root, *overrides, f"{group}={chosen}", *REQUIRED.get((group, option), []))[NODES.get(group, group)]
    settings = resolve(node[option] if several else node)
    check(settings)
    if option == "ray":
        pytest.importorskip("ray")
    runs = {"_partial_": True} if group in ("evaluate", "job") else {}
    with contextlib.suppress(MissingArtifactError):
        assert build({**settings, **runs}) is not None


def test_the_second_agent_of_the_strong_match_has_the_settings_of_search_demo() -> None:
    match = compose("evaluate", ["experiment=strong_match"])
    agent = resolve(match.agent.depth_limited_demo)
    demo = compose("evaluate", ["search=demo", "scale=laptop", f"artifacts={match.artifacts}"])
    written = {key: agent[key] for key in agent.keys() & agent["search"].keys() - {"name", "_target_"}}
    assert {**agent["search"], **written, "name": "demo"} == resolve(demo.search)
    assert agent["leaves"] == [resolve(demo.leaves.table), resolve(demo.leaf)]


@pytest.mark.parametrize("option", choices("experiment"))
def test_every_experiment_is_the_command_that_it_names(option: str) -> None:
    text = (CONF / "experiment" / f"{option}.yaml").read_text()
    root = "evaluate" if f"python evaluate.py experiment={option}" in text else "data_gen"
    assert root == "evaluate" or f"python -m data_gen experiment={option}" in text
    group = {"evaluate": "evaluate", "data_gen": "job"}[root]
    node = compose(root, [f"experiment={option}"])[group]
    if group == "job":
        node.output = "known while a job runs"
    check(resolve(node))


@pytest.mark.parametrize("command", GOLDEN)
def test_commands_compose_the_stored_settings(command: str) -> None:
    root, *overrides = command.split()
    node = compose(root, overrides)[{"evaluate": "evaluate", "data_gen": "job"}[root]]
    assert _named(resolve(node)) == _named(GOLDEN[command])


def _named(node: Any) -> Any:
    """Settings without those by which Hydra builds them."""
    if isinstance(node, dict):
        return {key: _named(value) for key, value in node.items() if key[0] != "_" or key == "_target_"}
    return [_named(value) for value in node] if isinstance(node, list) else node


@pytest.mark.parametrize(
    ("overrides", "seconds"),
    [([], None), (["search=workstation"], 3.0), (["search=demo", "search.seconds_per_decision=null"], None)],
)
def test_nobody_waits_long_at_the_table_unless_set_so(overrides: list[str], seconds: float | None) -> None:
    """The default search counts its work instead."""
    agent = compose("evaluate", ["evaluate=play", *overrides]).agent.depth_limited
    assert (agent.search.joint, agent.leaves[-1] is None) == 2 * (not overrides,)
    assert (agent.search.seconds_per_decision, agent.search.solver.threads) == (seconds, 2)


def test_questions_are_answered_without_a_limit_of_time() -> None:
    """A solve that is cut short answers with what early iterations play; only a table has to wait no longer."""
    config = compose("evaluate", ["evaluate=play", "agents=[depth_limited]", "search=laptop"])
    assert config.search.seconds_per_decision == 3.0
    [spec] = build(config.evaluate.pages[-1].settings.agents)
    assert spec.settings["search"] == {**resolve(config.search), "seconds_per_decision": None}
    assert compose("evaluate", ["evaluate=mcp"]).search.seconds_per_decision is None


@pytest.mark.parametrize("scale", choices("scale"))
@pytest.mark.parametrize("job", ["abstraction", "blueprint", "leaf_table", "leaf_states", "continuations"])
def test_every_scale_has_the_settings_of_the_jobs(job: str, scale: str) -> None:
    config = compose("data_gen", [f"job={job}", f"scale={scale}"])
    check(resolve(config.job))
    assert config.artifacts == f"artifacts/{scale}"
