"""Tasks over the machines of a Ray cluster, as `poker.parallel` does them on one.

An actor a core is prepared once and then takes tasks, one at a time. When one dies, or the machine that it is on,
another takes its task. Every machine needs this project installed. Artifacts lie on a path that all of them see, or are
sent to each machine once through Ray's object store and come back with the results (`storage`).
"""

import importlib
import io
import os
import shutil
import sys
import tarfile
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from poker.errors import PokernetsError
from poker.parallel import BLAS_THREADS, TOO_MANY_DEATHS, R, T, Work

STORAGES = ("shared", "driver")
_DEATHS = 3


class RayCluster:
    """The cluster at `address` (`auto`: the one that this machine belongs to; None: one is started on this machine),
    with so many `workers` (None: one for each of its cores), each with a share of `gpus_per_worker`."""

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        gpus_per_worker: float = 0.0,
        storage: str = "shared",
    ) -> None:
        if storage not in STORAGES:
            raise PokernetsError(f"no storage '{storage}': choose cluster.storage={' or '.join(STORAGES)}")
        try:
            self._ray: Any = importlib.import_module("ray")
        except ImportError as error:
            raise PokernetsError("cluster=ray needs Ray: pip install 'pokernets[ray]'") from error
        ray = self._ray
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if not ray.is_initialized():
            try:
                ray.init(address=address, log_to_driver=False, include_dashboard=False, logging_level="error")
            except (ConnectionError, ValueError) as error:
                raise PokernetsError(f"no Ray cluster at cluster.address={address}: {error}") from error
        cores = int(ray.cluster_resources().get("CPU", 1))
        self._workers, self._gpus, self._storage = workers or cores, gpus_per_worker, storage

    @property
    def workers(self) -> int:
        return self._workers

    def run(self, work: Work[T, R], tasks: Iterable[T]) -> Iterator[R]:
        ray, sends = self._ray, self._storage == "driver"
        files = ray.put({str(path): packed(path) for path in work.inputs} if sends else {})
        actor = ray.remote(num_cpus=1, num_gpus=self._gpus, runtime_env={"env_vars": _variables(work)})(_Actor)
        queue, deaths = _Queue(tasks), 0
        running: dict[Any, tuple[Any, list[T]]] = {}
        idle: list[Any] = []

        def start() -> None:
            new = actor.remote(work.prepare, work.output if sends else None)
            running[new.place.remote(files)] = new, []

        for _ in range(self._workers):
            start()
        try:
            while True:
                while idle and queue:
                    one, task = idle.pop(), queue.take()
                    running[one.do.remote(task)] = one, [task]
                if not queue and not any(doing for _, doing in running.values()):
                    return
                (ready,), _ = ray.wait(list(running), num_returns=1)
                one, doing = running.pop(ready)
                try:
                    found = ray.get(ready)
                except ray.exceptions.RayActorError as error:
                    deaths += 1
                    if deaths == _DEATHS * self._workers:
                        raise PokernetsError(TOO_MANY_DEATHS) from error
                    print(_LOST, file=sys.stderr)
                    queue.put_back(doing)
                    start()
                    continue
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from error
                idle.append(one)
                if doing:
                    deaths, (result, written) = 0, found
                    if written is not None and work.output is not None:
                        unpack(written, work.output(doing[0]))
                    yield result
        finally:
            for one in (*idle, *(one for one, _ in running.values())):
                ray.kill(one)


_LOST = "a worker was lost; another takes its task"


class _Queue:
    """Tasks that nobody has, taken from an iterator as they are needed."""

    def __init__(self, tasks: Iterable[Any]) -> None:
        self._waiting, self._next = iter(tasks), deque[Any]()

    def __bool__(self) -> bool:
        if not self._next:
            self._next.extend(islice(self._waiting, 1))
        return bool(self._next)

    def take(self) -> Any:
        return self._next.popleft()

    def put_back(self, tasks: Iterable[Any]) -> None:
        self._next.extendleft(tasks)


class _Actor:
    """A worker. With `output` what it writes goes back with the result and does not stay where it is."""

    def __init__(self, prepare: Callable[[], Callable[[Any], Any]], output: Callable[[Any], Path] | None) -> None:
        self._prepare, self._output = prepare, output
        self._function: Callable[[Any], Any] | None = None

    def place(self, files: Mapping[str, bytes]) -> None:
        """Puts inputs where this machine has nothing."""
        for name, data in files.items():
            if not Path(name).exists():
                unpack(data, Path(name))

    def do(self, task: Any) -> tuple[Any, bytes | None]:
        if self._function is None:
            self._function = self._prepare()
        result = self._function(task)
        if self._output is None:
            return result, None
        path = self._output(task)
        written = packed(path)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        return result, written


def packed(path: Path) -> bytes:
    """A file or folder as an archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(path, arcname="content")
    return buffer.getvalue()


def unpack(data: bytes, path: Path) -> None:
    """Writes it at `path`, whole or not at all; what another process has put there meanwhile stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(folder, filter="data")
        with suppress(OSError):
            (Path(folder) / "content").rename(path)


def _variables(work: Work[Any, Any]) -> dict[str, str]:
    threads = {} if work.share_cores else dict.fromkeys(BLAS_THREADS, "1")
    return {**threads, "PYTHONPATH": os.pathsep.join(filter(None, (os.getcwd(), os.environ.get("PYTHONPATH"))))}
