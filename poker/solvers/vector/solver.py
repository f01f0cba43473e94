"""Vector-form CFR over a `VectorGame`: alternating updates by any schedule, exact best responses and values.

The numbers of a solve do not depend on the number of threads: boards are summed in fixed chunks.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.kernels.barrier import SHARED_SIZE
from poker.kernels.simd import aligned_zeros
from poker.kernels.types import Board, Floats, Singles
from poker.kernels.vector.arrays import ACT, REACH, STRIDE, VALUE, Sweep
from poker.kernels.vector.decisions import AVERAGE, BEST_RESPONSE, RECORD, SOLVE
from poker.kernels.vector.sweep import run_team
from poker.run.errors import PokernetsError
from poker.solvers.vector.binding import NUM_CHUNKS, bind
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import realization, shares
from poker.solvers.vector.response_values import ResponseValues
from poker.solvers.vector.schedules import Schedule, schedule
from poker.solvers.vector.thread_tuning import Checks, Pace

_ASKING_SECONDS = 0.2
"""Seconds between two checks whether a solve should stop."""

_LEAST_WEIGHT = 1e-6
"""Part of the largest weight of an average at a node, below which it says nothing of a hand."""


@dataclass(frozen=True)
class SolveProgress:
    """State of a solve: exploitability in chips (NaN where it was not measured), seconds since `run` began."""

    iterations: int
    seconds: float
    exploitability: float


class VectorSolver:
    """Solves a `VectorGame`. `algorithm` is a name or a `Schedule`; `options` are those of the schedule.

    Raises PokernetsError when the arrays would exceed the game's memory limit.
    """

    def __init__(
        self, game: VectorGame, algorithm: str | Schedule = "apdcfr", *, threads: int = 1, **options: object
    ) -> None:
        self.game = game
        self.schedule = schedule(algorithm, **options)
        self.iterations = 0
        self.restricted: tuple[int, Singles] | None = None
        """A player and the reach of the part that plays by a model, as given to `restrict`."""
        count = 3 if self.schedule.predictive else 2
        need = game.bytes(count)
        if need > game.memory_limit:
            raise PokernetsError(
                f"this solve needs {need / 2**20:.0f} MiB, more than the limit of {game.memory_limit / 2**20:.0f} MiB:"
                " offer fewer bet sizes, narrow the ranges, or raise the limit"
            )
        arrays = aligned_zeros(count * game.num_entries).reshape(count, -1)  # one block has more of large pages
        self._sums, self._regrets, self._source = arrays[0], arrays[1], arrays[-1]
        self._sweep, work = bind(game, self._regrets, self._source, self._sums, self.schedule.predictive)
        boards = int(game.boards.boards.child_start[1] - game.boards.boards.child_start[0])
        self._threads = max(1, min(threads, boards, NUM_CHUNKS))
        self._works = [aligned_zeros(work) for _ in range(self._threads + 1)]
        self._ask_at = 0
        self._pool = ThreadPoolExecutor(self._threads - 1) if self._threads > 1 else None
        self._pace = Pace(self._threads)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that a solve remembers besides `iterations`; writing into them restores it."""
        predictive = {"source": self._source} if self.schedule.predictive else {}
        return {"regrets": self._regrets, "sums": self._sums, **predictive}

    def run(
        self,
        iterations: int | None = None,
        exploitability: float | None = None,
        seconds: float | None = None,
        progress: Callable[[SolveProgress], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> SolveProgress:
        """Iterate until any of the limits: a number of iterations, `exploitability` in pots, as the pot is at the root
        of the game, seconds, or until `stop` says so, which is asked a few times a second.

        With a limit to exploitability, it is measured on a schedule that keeps its cost at a few percent.
        """
        if iterations is None and exploitability is None and seconds is None:
            raise PokernetsError("a solve needs iterations, an exploitability or seconds")
        limit = None if exploitability is None else exploitability * self.game.pot
        start = time.perf_counter()
        last = self.iterations + iterations if iterations is not None else 1 << 30
        measured = float("nan")
        wanted = limit is not None or progress is not None
        check = Checks(self.iterations, limit, 0 if progress else self.game.pot)
        while self.iterations < last and not (stop is not None and stop()):
            block = min(check.next - self.iterations if wanted else last, last - self.iterations)
            if stop is not None:
                block = min(block, self._affordable(2 * _ASKING_SECONDS))
            if seconds is not None:
                block = min(block, self._affordable(seconds - (time.perf_counter() - start)))
            self.advance(block)
            spent = time.perf_counter() - start
            if wanted and (self.iterations >= check.next or self.iterations >= last):
                measured = self.exploitability()
                check.measured(self.iterations, measured)
                if progress is not None:
                    progress(SolveProgress(self.iterations, time.perf_counter() - start, measured))
                if limit is not None and measured <= limit:
                    break
            if seconds is not None and spent >= seconds:
                break
        return SolveProgress(self.iterations, time.perf_counter() - start, measured)

    def advance(self, count: int) -> None:
        """Run `count` iterations."""
        self._check_gadgets()
        last, leaves = self.iterations + count, self.game.asked
        while self.iterations < last:
            block = last - self.iterations
            if leaves is not None:
                if self.iterations >= self._ask_at:
                    self.ask_leaves()
                    self._ask_at = self.iterations + leaves.every
                block = min(block, self._ask_at - self.iterations)
            self._iterate(block)

    def _iterate(self, count: int) -> None:
        parameters = self.schedule.parameters(self.iterations + 1, count)
        done = 0
        while done < count:
            members, most = self._pace.next_block()
            block = min(most, count - done)
            begin = time.perf_counter()
            self._sweeps(self._sweep, 0, 1, SOLVE, parameters[done : done + block], members)
            self._pace.measured(members, (time.perf_counter() - begin) / block)
            done += block
        self.iterations += count

    def ask_leaves(self, average: bool = False) -> None:
        """Value the leaves of an `AskedLeaves` anew, by the ranges that reach them under the strategies of the next
        iteration, or the `average` ones."""
        game = self.game
        assert game.asked is not None
        values = game.asked.ask(self.leaf_ranges(self._sums if average else self._source))
        for player in range(2):
            hands = game.hands(player)
            for leaf, start in enumerate(self._sweep.leaf_matrix[player, :, 0].tolist()):
                self._sweep.leaf_values[start : start + len(hands)] = values[leaf, player, hands]

    def leaf_ranges(self, rows: Singles) -> Singles:
        """[L, 2, H]: the ranges that reach the leaf states of the root's round under the strategies of `rows`."""
        game, tree = self.game, self.game.tree
        out = np.repeat(game.ranges[None], tree.num_leaf_states, axis=0)
        for player in range(2):
            weights = realization(game, player, partial(self._shares, rows), game.ranges[player])
            for ranges, node in zip(out, tree.leaves.tolist(), strict=True):
                while node and tree.player[tree.parent[node]] != player:
                    node = int(tree.parent[node])
                if node:
                    above = int(tree.parent[node])
                    taken = game.rows(weights, above, 0)[node - int(tree.first_child[above])]
                    ranges[player, game.hands(player)] = taken
        return out

    def sweep(self, player: int, parameters: Singles) -> None:
        """Update `player` alone, once per row of `parameters` [n, 6]."""
        self._sweeps(self._sweep, player, player, SOLVE, parameters)

    def _check_gadgets(self) -> None:
        """Check that decisions above a gadget are locked: its alternatives assume the searcher's range there."""
        game = self.game
        if game.tree.gadget is None:
            return
        for node in game.layout.decisions.tolist():
            locked = self._sweep.nodes.locked[game.layout.position[node]]
            if game.tree.street[node] < game.tree.gadget.street and not locked:
                raise PokernetsError(
                    f"lock the decisions above the gadgets before solving; `{game.tree.path_text(node)}` is not"
                )

    def _affordable(self, seconds: float) -> int:
        """Iterations in half of the seconds left, at the pace so far."""
        each = self._pace.best
        return 1 if each is None else max(1, int(0.5 * seconds / each))

    def _sweeps(
        self, sweep: Sweep, first: int, last: int, mode: int, parameters: Singles, members: int | None = None
    ) -> None:
        """Sweeps for players first..last, once per row of `parameters`, by `members` threads."""
        members = members or self._pace.next_block()[0]
        shared = np.zeros(SHARED_SIZE, np.int64)

        def member(number: int) -> None:
            root, work = self._works[0], self._works[1 + number]
            run_team(sweep, first, last, mode, parameters, root, work, shared, members, number)

        others = [self._pool.submit(member, number) for number in range(1, members)] if self._pool is not None else []
        member(0)
        for other in others:
            other.result()

    def _one_sweep(self, player: int, mode: int, sweep: Sweep | None = None) -> Floats:
        """Counterfactual values [n] of the player's hands at the root."""
        self._sweeps(sweep or self._sweep, player, player, mode, np.zeros((1, 6), np.float32))
        return self._root(player)

    def _root(self, player: int) -> Floats:
        return self._sweep.root_value[player, : len(self.game.hands(player))].astype(np.float64)

    def _chips(self, player: int) -> float:
        """Expected zero-sum chips of the player after a sweep, over the compatible pairs of hands."""
        game = self.game
        weights = game.ranges[player, game.hands(player)].astype(np.float64)
        return float(weights @ self._root(player)) / game.total_weight

    def _root_values(self, player: int, mode: int, sweep: Sweep | None = None) -> float:
        self._one_sweep(player, mode, sweep)
        return self._chips(player)

    def _of_both(self, mode: int) -> float:
        """Chips of both players together, from one call: a river's sweep takes little longer than the call."""
        self._sweeps(self._sweep, 0, 1, mode, np.zeros((1, 6), np.float32))
        return self._chips(0) + self._chips(1)

    def exploitability(self) -> float:
        """Half of what both players together gain by best responses to the average profile, chips per hand.

        For a restricted player it counts what the free part gains, as if it were the whole. Leaves that are asked keep
        the values of the average profile.
        """
        if self.game.asked is not None:
            self.ask_leaves(average=True)
            self._ask_at = self.iterations
        gain = self._of_both(BEST_RESPONSE)
        if self.game.rake.fraction > 0 or self.restricted is not None:
            gain -= self._of_both(AVERAGE)
        return 0.5 * gain

    def best_response_value(self, player: int) -> float:
        """Chips per hand of the player's best response to the other's average strategy."""
        return self._root_values(player, BEST_RESPONSE) + 0.5 * self.game.tree.dead

    def best_response(self, player: int, actions: NDArray[np.uint8]) -> float:
        """Chips of `best_response_value`. Writes the strategy that wins them to `actions` [entries]: the index of the
        action that each hand takes, in the first of a node's action rows (`VectorGame.rows`)."""
        return self._root_values(player, RECORD, self._sweep._replace(best=actions)) + 0.5 * self.game.tree.dead

    def game_value(self, player: int = 0) -> float:
        """Chips per hand of the player under the average profile; without rake both values add up to the dead chips."""
        return self._root_values(player, AVERAGE) + 0.5 * self.game.tree.dead

    def values(self, player: int, best_response: bool = False) -> Singles:
        """float32[H]: chips of each hand of the player's range under the average profile (or the best response to it),
        given that the opponent holds a compatible hand within range; 0 for hands outside the range."""
        game = self.game
        hands = game.hands(player)
        raw = self._one_sweep(player, BEST_RESPONSE if best_response else AVERAGE)
        out = np.zeros(game.rules.num_hands, np.float32)
        compatible = game.compatible[player, hands]
        inside = compatible > 0
        out[hands[inside]] = raw[inside] / compatible[inside] + 0.5 * game.tree.dead
        return out

    def best_response_values(self, player: int) -> ResponseValues:
        """Counterfactual values of the player's best response to the other's average strategy, hand by hand: at the
        nodes of the root's street, and where the next street begins on each board."""
        return self._values_by_node(player, BEST_RESPONSE)

    def average_values(self, player: int) -> ResponseValues:
        """Counterfactual values of the player's average strategy, at the nodes of `best_response_values`."""
        return self._values_by_node(player, AVERAGE)

    def _values_by_node(self, player: int, mode: int) -> ResponseValues:
        layout, boards, street = self.game.layout, self.game.boards.boards, self.game.layout.first_street
        starts = np.zeros(0, np.float32)
        if street < layout.last_street:
            hands = int(boards.size[player, self.game.on(street + 1)].sum())
            starts = np.zeros(max(1, hands * int(layout.num_slots[street])), np.float32)
        self._one_sweep(player, mode, self._sweep._replace(starts=starts))
        scratch, rows = self._works[0], int(layout.value_rows[street])
        stride, reach, value = (int(self._sweep.place[row, street]) for row in (STRIDE, REACH, VALUE))
        reaches, values = scratch[reach:value], scratch[value : value + rows * stride]
        return ResponseValues(self.game, player, reaches.reshape(-1, stride), values.reshape(-1, stride), starts)

    def strategy(self, node: int, board: Board | None = None) -> Singles:
        """float32[H, A]: the average strategy at a DECISION or CHOICE node on `board` (default: the root's).

        Rows are 0 for hands that the player cannot have, uniform where the average has no weight.
        """
        return self._rows(node, board, self._sums)

    def current_strategy(self, node: int, board: Board | None = None) -> Singles:
        """float32[H, A]: the strategy of the next iteration."""
        return self._rows(node, board, self._source)

    def lock(self, node: int, probabilities: Singles | None = None) -> None:
        """Fixes the strategy at a node to `probabilities` [H, A] on every board, or (None) to the average that it has
        from `set_average`; the rest is solved around it.

        To be called before the first iteration. Best responses keep to it too. Where boards are merged, the strategy
        must not tell the suits apart that the game does not.
        """
        game = self.game
        if self.iterations:
            raise PokernetsError("lock nodes before the first iteration")
        self._sweep.nodes.locked[game.layout.position[node]] = True
        if probabilities is None:
            return
        rows = np.asarray(probabilities, np.float32)
        wanted = (game.rules.num_hands, int(game.tree.num_children[node]))
        if rows.shape != wanted or not (np.isfinite(rows).all() and (rows >= 0).all()):
            raise PokernetsError(f"a locked strategy has the shape {wanted} and no negative entries")
        images = rows[deck_of(game.rules).hand_map[list(game.boards.groups[0])]]
        live = game.ranges[game.tree.player[node]] > 0
        if not np.allclose(images[:, live], rows[live], rtol=1e-4, atol=1e-6):
            raise PokernetsError(
                "the locked strategy tells suits apart that the game does not: make the game with isomorphism=False"
            )
        for index in game.on(int(game.tree.street[node])):
            own = rows[game.hands(int(game.tree.player[node]), index)]
            if (own.sum(axis=1) <= 0).any():
                raise PokernetsError(f"the locked strategy at `{game.tree.path_text(node)}` gives a hand no action")
            self.set_average(node, index, own / own.sum(axis=1, keepdims=True))

    @property
    def locked(self) -> bool:
        """Whether the strategy at some node is fixed."""
        return bool(self._sweep.nodes.locked.any())

    def restrict(self, player: int, modelled: Singles) -> None:
        """Make a part of the range of `player` play by a model: `modelled` [entries] is its reach after each action
        (`poker.experiments.exploit_or_be_exploited.restricted`). The rest of the range is solved, and `strategy` is
        that of the rest.

        To be called before the first iteration.
        """
        if self.iterations:
            raise PokernetsError("restrict a player before the first iteration")
        self.restricted = player, modelled
        self._sweep = self._sweep._replace(modelled=modelled, modelled_player=player)

    def action_values(self, node: int) -> Singles:
        """float32[H, A]: chips of each action at a node of the root's street, for the player who acts there.

        Given that the opponent holds a hand of the range that arrives there, both following the average profile after
        the action; NaN for hands outside the range, or when the opponent never comes here.
        """
        game = self.game
        player, street = int(game.tree.player[node]), int(game.tree.street[node])
        if street != game.layout.first_street or player < 0:
            raise PokernetsError(f"no action values at `{game.tree.path_text(node)}`: nobody acts, or a later street")
        reached = self.average_values(player)
        return np.stack([reached.at(child) for child in game.tree.children(node)], axis=1)

    def normalised_average(
        self, dtype: type[np.floating] = np.float32, *, rare_by_regrets: bool = False
    ) -> NDArray[Any]:
        """[entries] of a `dtype`: the average strategy in the layout of the kernels; 0 in the padding of rows.

        With `rare_by_regrets` hands that hardly come to a node (`_LEAST_WEIGHT`) have the strategy of the next
        iteration there: an average needs the player's own reach, regrets do not.
        """
        game, out = self.game, np.zeros(len(self._sums), dtype)
        for node in game.layout.decisions.tolist():
            for index in game.on(int(game.tree.street[node])):
                rows = self._shares(self._sums, node, index)
                if rare_by_regrets:
                    weight = np.maximum(game.rows(self._sums, node, index), 0).sum(axis=0)
                    rare = weight <= _LEAST_WEIGHT * weight.max()
                    rows = np.where(rare, self._shares(self._source, node, index), rows)
                game.rows(out, node, index)[:] = rows
        return out

    def set_average(self, node: int, board_index: int, rows: Singles) -> None:
        """Replaces the average strategy at a node on a board of the game by `rows` [hands of the board's list, A]."""
        self.game.rows(self._sums, node, board_index)[:] = rows.T

    def _rows(self, node: int, board: Board | None, array: NDArray[Any]) -> Singles:
        game, tree = self.game, self.game.tree
        if game.layout.nodes.role[game.layout.position[node]] != ACT:
            raise PokernetsError(f"nobody acts at node {node} (`{tree.path_text(node)}`)")
        return game.by_hand(
            node, game.board if board is None else board, lambda index: self._shares(array, node, index)
        )

    def _shares(self, array: Singles, node: int, board: int) -> Singles:
        """[A, hands] the strategy in proportion to the positive part of the rows of `array`, uniform where it is 0."""
        return shares(np.maximum(self.game.rows(array, node, board), 0))
