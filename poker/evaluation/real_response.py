"""How much a best response that sees its cards wins from a bucketed policy, over all flops or a random sample of them.

All 1,755 classes of flops give the exact value. With a sample, everything from the flop on is exact on each of its
flops, and only the decisions before the flop hang on the others: the sample is cut into `_PARTS`, and each part values
the decisions that are best on the other parts together. So the figure is what concrete strategies win, without bias: a
lower bound in expectation, with a 95% interval over flops. Choosing on all sampled flops at once is the optimistic
figure; the exact value lies between the two in expectation. Flops are drawn with replacement, so parts are independent.
(With ten parts the bound is closer and the interval truer than with two halves: against always-call in flop hold'em the
mean of many samples lay in 92% of the intervals of 40 flops and in 89% of those of 16.)

Every flop is stored when it is done, and found again by a later run against the same policy, whatever its sample.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from poker.abstraction.buckets import BOARD_SIZES, CardAbstraction, is_holdem, make_abstraction
from poker.agents.base import Agent
from poker.agents.blueprint import BlueprintAgent
from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.artifacts import write_atomically
from poker.betting import Betting
from poker.errors import PokernetsError
from poker.evaluation.policies import public_state, require_policy
from poker.evaluation.statistics import Estimate, estimate
from poker.kernels.hands import NUM_HANDS
from poker.kernels.isomorphism import NUM_BOARDS, board_multiplicities
from poker.rules import Rules
from poker.solvers.real_response import NUM_CLASSES, NUM_FLOPS, RealResponse, Scratch
from poker.tree import BetMenu, build_tree

ALL = "all"
_FLOPS = 22_100
_FLOPS_WITH_TWO_HANDS = 17_296
"""Flops of a full deck, and when both players' cards are out."""
_PARTS = 10
_MEMORY_SHARE = 0.8

Values = list[NDArray[np.float64]]
"""For either seat [V, C]."""


@dataclass(frozen=True)
class Cost:
    """What a run needs, measured on one board: CPU seconds per flop and in all, bytes of all threads together."""

    cpu_per_flop: float
    flops: int
    memory: int

    @property
    def cpu(self) -> float:
        return self.cpu_per_flop * self.flops

    def text(self, threads: int) -> str:
        hours, memory = self.cpu / 3600, self.memory / 2**20
        return (
            f"{self.flops:,} flops of about {self.cpu_per_flop:.1f} CPU seconds: {hours:.2f} CPU hours, "
            f"{threads} threads, {memory:,.0f} MiB besides the abstraction"
        )


@dataclass(frozen=True)
class RealValue:
    """Chips per hand that best responses win, over flops. `nash_conv` is the sum over both seats."""

    by_seat: tuple[Estimate, Estimate]
    nash_conv: Estimate
    optimistic: float
    """`nash_conv` with the decisions before the flop chosen on all the flops they are valued on."""
    exact: bool
    flops: int
    cpu_per_flop: float | None
    """CPU seconds, measured on the flops that this run did; None when all were stored."""


def real_response(agent: Agent, game: Rules, menu: BetMenu) -> RealResponse:
    """The response to an agent that plays a blueprint or does not look at its cards; others are refused by name."""
    if isinstance(agent, BlueprintAgent):
        blueprint = agent.blueprint
        if not isinstance(blueprint.cards, CardAbstraction):
            raise PokernetsError(f"'{game.name}' is small: measure '{agent.name}' without `flops`, that is exact")
        return RealResponse(blueprint.tree, blueprint.cards, blueprint.probs)
    if type(agent) not in (AlwaysCall, AlwaysRaise, RandomAgent) or not is_holdem(game):
        raise PokernetsError(
            f"the best response over `flops` is to policies that play hold'em by buckets; '{agent.name}' is none: "
            "leave `flops` out for local best responses"
        )
    return card_blind_response(agent, game, menu)


def card_blind_response(agent: Agent, game: Rules, menu: BetMenu) -> RealResponse:
    """The response to an agent of `poker.agents.simple`, with the bets of `menu` in a no-limit game."""
    tree, policy = build_tree(Betting.start(game), menu), require_policy(agent, "a best response").policy
    sizes = BOARD_SIZES[: game.num_streets]
    cards = make_abstraction([np.zeros((NUM_BOARDS[n], NUM_HANDS), np.uint8) for n in sizes], [1] * len(sizes))

    def probabilities(node: int) -> NDArray[np.float32]:
        betting = Betting.start(game)
        for action in tree.path(node):
            betting = betting.apply(action)
        actions, probs = policy(public_state(betting, ()))
        offered = tree.actions(node)
        row = np.zeros((1, len(offered)), np.float32)
        for action, probability in zip(actions, probs[0], strict=True):
            if action not in offered:
                raise PokernetsError(f"'{agent.name}' bets {action} where the menu of '{game.name}' has {offered}")
            row[0, offered.index(action)] = probability
        return row

    return RealResponse(tree, cards, probabilities)


def draw_flops(flops: int | str, seed: int) -> NDArray[np.int64] | None:
    """Canonical flops of a random sample, drawn with replacement like concrete flops; None for all of them."""
    if flops == ALL:
        return None
    if not isinstance(flops, int) or flops < 4:
        raise PokernetsError(f"`flops` must be `{ALL}` or a number of at least 4, not {flops!r}")
    weights = board_multiplicities(3)
    drawn: NDArray[np.int64] = np.random.default_rng(seed).choice(NUM_FLOPS, flops, p=weights / weights.sum())
    return drawn


def measure(
    response: RealResponse,
    *,
    flops: int | str,
    seed: int,
    threads: int,
    hours: float,
    folder: Path,
    console: Console | None = None,
    name: str = "policy",
) -> RealValue:
    """Refuses by name what would take more than `hours` of CPU time or most of the memory, before it starts."""
    console = console or Console(stderr=True)
    drawn = draw_flops(flops, seed)
    wanted = np.arange(NUM_FLOPS) if drawn is None else np.unique(drawn)
    store = folder / f"response-{response.fingerprint[:16]}"
    missing = [flop for flop in wanted.tolist() if not _path(store, flop).exists()]
    used, seconds = max(1, min(threads or os.cpu_count() or 1, len(missing))), 0.0
    if missing:
        cost = _cost(response, missing, used)
        if cost.cpu > 3600 * hours:
            raise PokernetsError(
                f"the best response to '{name}' over flops={flops} needs {cost.text(used)}, more than the limit of "
                f"{hours:g} hours: take fewer `flops`, or raise `response_hours`"
            )
        if cost.memory > _MEMORY_SHARE * _physical_memory():
            raise PokernetsError(f"the best response to '{name}' needs {cost.text(used)}: take fewer `processes`")
        console.print(f"best response to {name}: {cost.text(used)}", soft_wrap=True, highlight=False)
        seconds = _run(response, missing, store, used, console, name)
    values = {flop: _load(_path(store, flop), response) for flop in wanted.tolist()}
    cpu_per_flop = seconds / len(missing) if missing else None
    if drawn is None:
        return _exact(response, values, cpu_per_flop)
    return _sampled(response, [values[flop] for flop in drawn.tolist()], cpu_per_flop)


def _cost(response: RealResponse, flops: list[int], threads: int) -> Cost:
    """By one board of the last street: the rest of the walk takes a few percent more."""
    memory = response.policy_bytes + threads * response.scratch_bytes
    return Cost(response.board_seconds() * response.boards_per_flop(), len(flops), memory)


def _physical_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _run(response: RealResponse, flops: list[int], store: Path, threads: int, console: Console, name: str) -> float:
    """CPU seconds of the flops that were missing; each is stored when it is done."""
    idle: list[Scratch] = [response.scratch() for _ in range(threads)]

    def one(flop: int) -> float:
        scratch, started = idle.pop(), time.thread_time()
        found = np.concatenate(response.flop_values(flop, scratch))
        idle.append(scratch)
        _save(_path(store, flop), found)
        return time.thread_time() - started

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    seconds = 0.0
    with ThreadPoolExecutor(threads) as pool, Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        bar = progress.add_task(f"flops against {name}", total=len(flops))
        for each in pool.map(one, flops):
            seconds += each
            progress.update(bar, advance=1)
    return seconds


def _path(store: Path, flop: int) -> Path:
    return store / f"flop-{flop:04d}.bin"


def _save(path: Path, values: NDArray[np.float64]) -> None:
    write_atomically(path, values.tobytes())


def _load(path: Path, response: RealResponse) -> Values:
    sizes = [len(seat.entries) for seat in response.seats]
    content = path.read_bytes()
    if len(content) != sum(sizes) * NUM_CLASSES * np.dtype(np.float64).itemsize:
        raise PokernetsError(f"{path} is damaged: delete it, and the flop is walked again")
    flat = np.frombuffer(content, np.float64).reshape(sum(sizes), NUM_CLASSES)
    return [flat[: sizes[0]], flat[sizes[0] :]]


def _ends(response: RealResponse, seat: int, values: NDArray[np.float64]) -> dict[int, NDArray[np.float64]]:
    """From the mean over flops [V, C] to the values at the ends of the street before the flop."""
    scaled = values * (_FLOPS / _FLOPS_WITH_TWO_HANDS)
    return dict(zip(response.seats[seat].entries, scaled, strict=True))


def _exact(response: RealResponse, values: dict[int, Values], cpu_per_flop: float | None) -> RealValue:
    assert response.root is not None
    weights = board_multiplicities(3) / _FLOPS
    won = []
    for seat in range(2):
        mean = sum(weights[flop] * each[seat] for flop, each in values.items())
        won.append(response.root.best(seat, _ends(response, seat, np.asarray(mean)))[0])
    first, second = (Estimate(each, 0.0, 0.0, NUM_FLOPS) for each in won)
    total = sum(won)
    return RealValue((first, second), Estimate(total, 0.0, 0.0, NUM_FLOPS), total, True, NUM_FLOPS, cpu_per_flop)


def _sampled(response: RealResponse, values: list[Values], cpu_per_flop: float | None) -> RealValue:
    """`values` by flop as it was drawn."""
    assert response.root is not None
    count, optimistic = len(values), 0.0
    part = np.arange(count) % _PARTS
    won = np.zeros((2, count))
    for seat in range(2):
        stacked = np.stack([each[seat] for each in values])
        optimistic += response.root.best(seat, _ends(response, seat, stacked.mean(axis=0)))[0]
        for out in np.unique(part).tolist():
            _, strategy = response.root.best(seat, _ends(response, seat, stacked[part != out].mean(axis=0)))
            for flop in np.flatnonzero(part == out).tolist():
                won[seat, flop] = response.root.follow(seat, _ends(response, seat, stacked[flop]), strategy)
    first, second = (estimate(row) for row in won)
    return RealValue((first, second), estimate(won.sum(axis=0)), optimistic, False, count, cpu_per_flop)
