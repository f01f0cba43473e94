"""Tasks over Ray: two machines in one, of one core each, and the death of workers and of one of the machines."""

import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from poker.agents.simple import RandomAgent
from poker.play import workers
from poker.play.lineup import AgentSpec
from poker.run.errors import PokernetsError
from poker.run.parallel import Given, LocalCluster, Work
from poker.run.ray_cluster import RayCluster, _RayTeam
from tests.data_gen.commands import data_gen, digests, tiny_blueprint
from tests.games import load_rules
from tests.killed import ROOT
from tests.matches import play_match
from tests.run.test_parallel import fail

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def machines() -> Iterator[Any]:
    """A cluster of two machines of one core each; `ray.init` knows the address."""
    ray: Any = pytest.importorskip("ray", reason="needs Ray: pip install -e '.[ray]'")
    size = {"num_cpus": 1, "object_store_memory": 10**8}
    cluster = importlib.import_module("ray.cluster_utils").Cluster(initialize_head=True, head_node_args=size)
    cluster.add_node(**size)
    cluster.wait_for_nodes()
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def cluster(machines: Any) -> RayCluster:
    return RayCluster(machines.address)


def place_once_all_are_there(folder: Path, number: int) -> tuple[int, str]:
    """The machine of a task, which waits for tasks on both machines, up to a minute."""
    machine = importlib.import_module("ray").get_runtime_context().get_node_id()
    (folder / machine).touch()
    for _ in range(600):
        if len(list(folder.iterdir())) < 2:
            time.sleep(0.1)
    return number, machine


def test_every_task_once_on_both_machines(cluster: RayCluster, tmp_path: Path) -> None:
    assert cluster.workers == 2
    places = list(cluster.run(Work(Given(partial(place_once_all_are_there, tmp_path))), range(10)))
    assert sorted(number for number, _ in places) == list(range(10))
    assert len({machine for _, machine in places}) == 2


def test_errors_of_tasks_come_through(cluster: RayCluster) -> None:
    with pytest.raises(PokernetsError, match="no 5"):
        list(cluster.run(Work(Given(fail)), [5]))


def doubled(number: int) -> int:
    return 2 * number


class FakeRay:
    """A stand-in for Ray whose calls run when they are waited for; the first task runs out of memory."""

    def __init__(self) -> None:
        names = ("RayActorError", "RayTaskError", "OutOfMemoryError")
        self.exceptions = SimpleNamespace(**{name: type(name, (Exception,), {}) for name in names})
        self.deaths = 1

    def remote(self, **_: Any) -> Callable[[type], Any]:
        return lambda kind: SimpleNamespace(remote=lambda *given: self.started(kind(*given)))

    def started(self, actor: Any) -> Any:
        calls = {name: SimpleNamespace(remote=partial(partial, getattr(actor, name))) for name in ("ready", "do")}
        return SimpleNamespace(**calls)

    def put(self, value: Any) -> Any:
        return value

    def wait(self, calls: list[Any], num_returns: int) -> tuple[list[Any], list[Any]]:
        return calls[:num_returns], calls[num_returns:]

    def get(self, call: Any) -> Any:
        if call.func.__name__ == "do" and self.deaths:
            self.deaths -= 1
            raise self.exceptions.OutOfMemoryError
        return call()

    def kill(self, actor: Any) -> None:
        pass


def test_the_task_of_a_worker_without_memory_is_taken_by_another(capsys: pytest.CaptureFixture[str]) -> None:
    team: _RayTeam[int, int] = _RayTeam(FakeRay(), Work(Given(doubled)), 2)
    assert sorted(team.run([1, 2, 3])) == [2, 4, 6]
    assert capsys.readouterr().err.count("a worker was lost") == 1


def test_a_job_that_loses_a_worker_and_a_machine_makes_the_same_bytes(machines: Any, tmp_path: Path) -> None:
    few = ("boards_per_shard=2", "states_per_board=4", "preflop_share=1.0")
    common = ("job=leaf_states", "job.shards=16", *(f"job.settings.{each}" for each in few), *tiny_blueprint(tmp_path))
    data_gen(*common, "cluster.processes=1", f"job.output={tmp_path}/local")
    machine = machines.add_node(num_cpus=1, object_store_memory=10**8)
    machines.wait_for_nodes()
    on_ray = (*common, "cluster=ray", f"cluster.address={machines.address}", f"job.output={tmp_path}/ray")
    job = subprocess.Popen([sys.executable, "-m", "data_gen", *on_ray], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    _until_shards(job, tmp_path / "ray", 1)
    os.kill(_a_worker(job), signal.SIGKILL)
    _until_shards(job, tmp_path / "ray", 4)
    machines.remove_node(machine, allow_graceful=False)
    _, said = job.communicate(timeout=900)
    assert job.returncode == 0, said
    assert "a worker was lost" in said  # once or twice: the job may end before Ray misses the machine
    assert digests(tmp_path / "ray") == digests(tmp_path / "local")


def _until_shards(job: "subprocess.Popen[str]", folder: Path, count: int) -> None:
    while len(list(folder.glob("shard-*/manifest.json"))) < count:
        assert job.poll() is None
        time.sleep(0.05)


def _a_worker(job: "subprocess.Popen[str]") -> int:
    """Process of an actor that works."""
    while job.poll() is None:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):  # the process has ended since
                if path.read_bytes().startswith(b"ray::_Actor.do"):
                    return int(path.parent.name)
    raise AssertionError("the job ended before a worker was seen")


def test_a_match_has_the_same_hands(machines: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_is_long", lambda *pace: True)
    agents = [AgentSpec(name, partial(RandomAgent, name=name, raises=[1]), {}) for name in ("one", "two")]
    for name, where in (("local", LocalCluster(1)), ("ray", RayCluster(machines.address))):
        play_match(tmp_path / name, load_rules("leduc"), agents, hands=400, cluster=where)
    local, ray_ = (sorted((tmp_path / name).rglob("*.log")) for name in ("local", "ray"))
    assert [path.read_bytes() for path in local] == [path.read_bytes() for path in ray_] != []
