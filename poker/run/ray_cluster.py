"""Tasks on the machines of a Ray cluster, with the interface of `poker.run.parallel`.

There is one actor per core (or per `cores_per_worker`). It is prepared once and then takes one task at a time. If an
actor or its machine dies, another takes its task. Every machine needs this project installed. Artifacts are on a path
that all machines share. With `storage=driver` they are sent to each machine once through Ray's object store instead,
and results come back the same way.
"""

import importlib
import io
import os
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from poker.run.atomic import remove, replace_with
from poker.run.commands import how_to_install
from poker.run.errors import PokernetsError
from poker.run.lock import alone
from poker.run.parallel import ALL_THREADS, BLAS_THREADS, TOO_MANY_DEATHS, Cluster, R, SharedArray, T, Team, Work

STORAGES = ("shared", "driver")
_DEATHS = 3


class RayCluster(Cluster):
    """Workers on a Ray cluster.

    Args:
        address: address of the cluster; `auto` for the cluster that this machine belongs to, None to start one on this
            machine.
        workers: number of workers; None for as many as there are cores for.
        cores_per_worker: cores of each worker.
        gpus_per_worker: share of a GPU of each worker.
        storage: `shared` if all machines see the artifacts' path, `driver` to send files.
    """

    one_machine = False

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        cores_per_worker: int = 1,
        gpus_per_worker: float = 0.0,
        storage: str = "shared",
    ) -> None:
        """Connect to the cluster.

        Raises:
            PokernetsError: `storage` is invalid, Ray is not installed, or there is no cluster at `address`.
        """
        if storage not in STORAGES:
            raise PokernetsError(f"unknown cluster.storage '{storage}': choose {' or '.join(STORAGES)}")
        try:
            self._ray: Any = importlib.import_module("ray")
        except ImportError as error:
            raise PokernetsError(f"cluster=ray needs Ray: {how_to_install('ray')}") from error
        ray = self._ray
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if not ray.is_initialized():
            try:
                ray.init(address=address, log_to_driver=False, include_dashboard=False, logging_level="error")
            except (ConnectionError, ValueError) as error:
                raise PokernetsError(f"no Ray cluster at cluster.address={address}: {error}") from error
        cores = int(ray.cluster_resources().get("CPU", 1))
        self._workers = workers or max(1, cores // cores_per_worker)
        self._share, self._storage = {"num_cpus": cores_per_worker, "num_gpus": gpus_per_worker}, storage

    @property
    def workers(self) -> int:
        """Number of workers."""
        return self._workers

    @contextmanager
    def team(self, work: Work[T, R]) -> Iterator[Team[T, R]]:
        """Start workers for `work` that stay for several runs."""
        team = _RayTeam(self._ray, work, self._workers, self._share, self._storage == "driver")
        try:
            yield team
        finally:
            team.close()


class _RayTeam(Team[T, R]):
    def __init__(self, ray: Any, work: Work[T, R], workers: int, share: Mapping[str, float], sends: bool) -> None:
        self._ray, self._work, self._workers, self._sends = ray, work, workers, sends
        self._prepare = ray.put(work.prepare)
        self._files = ray.put({str(path): packed(path) for path in work.inputs if path.exists()} if sends else {})
        variables = _variables(work, int(share["num_cpus"]))
        self._actor = ray.remote(**share, runtime_env={"env_vars": variables})(_Actor)
        self._idle: list[Any] = []
        self._running: dict[Any, tuple[Any, list[T]]] = {}
        """Each worker's task; empty while the worker starts."""
        for _ in range(workers):
            self._start()

    def run(self, tasks: Iterable[T]) -> Iterator[R]:
        waiting, lost, deaths = iter(tasks), list[T](), 0
        try:
            while True:
                while self._idle and (following := lost or list(islice(waiting, 1))):
                    worker, task = self._idle.pop(), following.pop()
                    self._running[worker.do.remote(task)] = worker, [task]
                if self._idle and not any(doing for _, doing in self._running.values()):
                    return
                doing, answer = self._next()
                if answer is None:
                    deaths += 1
                    if deaths == _DEATHS * self._workers:
                        raise PokernetsError(TOO_MANY_DEATHS)
                    lost += doing
                elif doing:
                    deaths, (result, written) = 0, answer
                    if written is not None and self._work.output is not None:
                        for data, path in zip(written, _paths(self._work.output(doing[0])), strict=True):
                            unpack(data, path)
                    yield result
        finally:
            self._running = {ready: (worker, []) for ready, (worker, _) in self._running.items()}

    def _next(self) -> tuple[list[T], Any]:
        """Wait for a worker.

        Returns:
            its tasks and its answer; None as the answer if the worker was lost, in which case another is started.
        """
        ray = self._ray
        (ready,), _ = ray.wait(list(self._running), num_returns=1)
        worker, doing = self._running.pop(ready)
        try:
            answer = ray.get(ready)
        except (ray.exceptions.RayActorError, ray.exceptions.OutOfMemoryError):
            print(_LOST, file=sys.stderr)
            self._start()
            return doing, None
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        self._idle.append(worker)
        return doing, answer

    def share(self, array: NDArray[Any]) -> SharedArray:
        return partial(_stored, self._ray.put(array))

    def close(self) -> None:
        """End the workers."""
        for worker in (*self._idle, *(worker for worker, _ in self._running.values())):
            self._ray.kill(worker)

    def _start(self) -> None:
        worker = self._actor.remote(self._prepare, self._work.output if self._sends else None)
        self._running[worker.place.remote(self._files)] = worker, []


def _stored(reference: Any) -> NDArray[Any]:
    """Return the array in Ray's object store behind `reference`."""
    array: NDArray[Any] = importlib.import_module("ray").get(reference)
    return array


_CONTENT = "content"
_LOST = "a worker was lost; another takes over its task"


def _paths(output: Path | Sequence[Path]) -> Sequence[Path]:
    return [output] if isinstance(output, Path) else output


class _Actor:
    """A worker; with `output`, the files that it writes go back with the result and are deleted on its machine."""

    def __init__(
        self, prepare: Callable[[], Callable[[Any], Any]], output: Callable[[Any], Path | Sequence[Path]] | None
    ) -> None:
        self._prepare, self._output = prepare, output
        self._function: Callable[[Any], Any] | None = None

    def place(self, files: Mapping[str, bytes]) -> bool:
        """Write the inputs that this machine lacks or has with different content."""
        for name, data in files.items():
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            with alone(path.parent):
                if not _is_at(data, path):
                    unpack(data, path)
        return True

    def do(self, task: Any) -> tuple[Any, list[bytes] | None]:
        if self._function is None:
            self._function = self._prepare()
        result = self._function(task)
        if self._output is None:
            return result, None
        paths = _paths(self._output(task))
        written = [packed(path) for path in paths]
        for path in paths:
            remove(path)
        return result, written


def packed(path: Path) -> bytes:
    """Return a file or folder as a tar archive, with links replaced by their targets."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as archive:
        archive.add(path, arcname=_CONTENT)
    return buffer.getvalue()


def unpack(data: bytes, path: Path) -> None:
    """Unpack an archive at `path` atomically, replacing what is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder, _opened(data) as archive:
        archive.extractall(folder, filter="data")
        replace_with(Path(folder) / _CONTENT, path)


def _is_at(data: bytes, path: Path) -> bool:
    """Return whether `path` has all files of an archive with the same bytes."""
    with _opened(data) as archive:
        return all(_is_same(archive, member, path) for member in archive)


def _is_same(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> bool:
    there, content = path / Path(member.name).relative_to(_CONTENT), archive.extractfile(member)
    if content is None:
        return there.is_dir()
    return there.is_file() and there.stat().st_size == member.size and there.read_bytes() == content.read()


def _opened(data: bytes) -> tarfile.TarFile:
    return tarfile.open(fileobj=io.BytesIO(data))


def _variables(work: Work[Any, Any], cores: int) -> dict[str, str]:
    threads = dict.fromkeys(ALL_THREADS, str(cores)) | ({} if work.share_cores else dict.fromkeys(BLAS_THREADS, "1"))
    return {**threads, "PYTHONPATH": os.pathsep.join(filter(None, (os.getcwd(), os.environ.get("PYTHONPATH"))))}
