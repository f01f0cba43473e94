"""Vector-form CFR over a `VectorGame`: alternating updates by any schedule, exact best responses and values.

The results do not depend on the number of threads, because boards are summed in fixed chunks.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.kernels.barrier import SHARED_SIZE
from poker.kernels.simd import aligned_zeros
from poker.kernels.types import Board, Floats, Singles
from poker.kernels.vector.arrays import ACT, REACH, STRIDE, VALUE, Sweep
from poker.kernels.vector.decisions import AVERAGE, BEST_RESPONSE, RECORD, SOLVE
from poker.kernels.vector.sweep import run_team
from poker.run.errors import PokernetsError, TooLargeError
from poker.solvers.vector.binding import NUM_CHUNKS, bind
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import shares
from poker.solvers.vector.response_values import ResponseValues
from poker.solvers.vector.schedules import Schedule, schedule
from poker.solvers.vector.thread_tuning import Checks, Pace

_STOP_CHECK_SECONDS = 0.2
"""Seconds between two calls of the function that may stop a solve."""

_MIN_WEIGHT = 1e-6
"""Weight, relative to the node's largest, below which the average strategy of a hand is meaningless."""


@dataclass(frozen=True)
class SolveProgress:
    """The state of a solve.

    Attributes:
        iterations: iterations so far.
        seconds: seconds since `run` began.
        exploitability: exploitability in chips; NaN if it was not measured.
    """

    iterations: int
    seconds: float
    exploitability: float


class VectorSolver:
    """A solver of one `VectorGame`.

    Attributes:
        schedule: the algorithm.
        iterations: iterations so far.
        restricted: a player and the reach of the part that plays by a model, as given to `restrict`; None for no model.
    """

    def __init__(
        self, game: VectorGame, algorithm: str | Schedule = "apdcfr", *, threads: int = 1, **options: object
    ) -> None:
        """Allocate the arrays of a solve.

        Args:
            algorithm: a name in `poker.solvers.vector.schedules`, or a schedule.
            **options: parameters of the schedule to change.

        Raises:
            PokernetsError: the arrays would exceed the game's memory limit, or the algorithm is unknown.
        """
        self.game = game
        self.schedule = schedule(algorithm, **options)
        self.iterations = 0
        self.restricted: tuple[int, Singles] | None = None
        """A player and the reach of the modelled part of the range, as given to `restrict`."""
        count = 3 if self.schedule.predictive else 2
        need = game.bytes(count)
        if need > game.memory_limit:
            raise TooLargeError(
                f"this solve needs {need / 2**20:.0f} MiB, more than the limit of {game.memory_limit / 2**20:.0f} MiB:"
                " offer fewer bet sizes, narrow the ranges, or raise the limit"
            )
        arrays = aligned_zeros(count * game.num_entries).reshape(count, -1)  # one block has more large pages
        self._sums, self._regrets, self._source = arrays[0], arrays[1], arrays[-1]
        self._sweep, work = bind(game, self._regrets, self._source, self._sums, self.schedule.predictive)
        boards = int(game.boards.boards.child_start[1] - game.boards.boards.child_start[0])
        self._threads = max(1, min(threads, boards, NUM_CHUNKS))
        self._works = [aligned_zeros(work) for _ in range(self._threads + 1)]
        self._pool = ThreadPoolExecutor(self._threads - 1) if self._threads > 1 else None
        self._pace = Pace(self._threads)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """State of a solve besides `iterations`: float32 [entries] arrays by name; writing into them restores it."""
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
        """Iterate until one of the limits is reached.

        Exploitability is measured on a schedule that costs only a few percent of the time.

        Args:
            iterations: number of iterations; None for no limit.
            exploitability: target in pots, by the pot at the root; None for no limit.
            seconds: seconds; None for no limit.
            progress: called after each measurement.
            stop: called a few times per second; the solve stops when it returns True.

        Raises:
            PokernetsError: there is no limit, or a decision above a gadget is not locked.
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
                block = min(block, self._affordable(2 * _STOP_CHECK_SECONDS))
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

    def sweep(self, player: int, parameters: Singles) -> None:
        """Update one player only.

        Args:
            parameters: float32 [n, 6] parameters of n iterations.
        """
        self._sweeps(self._sweep, player, player, SOLVE, parameters)

    def _check_gadgets(self) -> None:
        """Check that decisions above gadgets are locked, because alternatives assume the searcher's range there."""
        game = self.game
        if game.tree.gadget is None:
            return
        for node in game.layout.decisions.tolist():
            locked = self._sweep.nodes.locked[game.layout.position[node]]
            if game.tree.street[node] < game.tree.gadget.street and not locked:
                raise PokernetsError(
                    f"lock all decisions above the gadgets before solving; `{game.tree.path_text(node)}` is not locked"
                )

    def _affordable(self, seconds: float) -> int:
        """Return the iterations that fit into half of the seconds left, at the pace so far."""
        each = self._pace.best
        return 1 if each is None else max(1, int(0.5 * seconds / each))

    def _sweeps(
        self, sweep: Sweep, first: int, last: int, mode: int, parameters: Singles, members: int | None = None
    ) -> None:
        """Run sweeps for players first..last, once per row of `parameters`, with `members` threads."""
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
        """Return the counterfactual values [n] of the player's hands at the root."""
        self._sweeps(sweep or self._sweep, player, player, mode, np.zeros((1, 6), np.float32))
        return self._root(player)

    def _root(self, player: int) -> Floats:
        return self._sweep.root_value[player, : len(self.game.hands(player))].astype(np.float64)

    def _chips(self, player: int) -> float:
        """Return the player's expected zero-sum chips after a sweep, over the compatible pairs of hands."""
        game = self.game
        weights = game.ranges[player, game.hands(player)].astype(np.float64)
        return float(weights @ self._root(player)) / game.total_weight

    def _root_values(self, player: int, mode: int, sweep: Sweep | None = None) -> float:
        self._one_sweep(player, mode, sweep)
        return self._chips(player)

    def _both_values(self, mode: int) -> float:
        """Return the chips of both players from one call, because a river's sweep takes little longer than the call."""
        self._sweeps(self._sweep, 0, 1, mode, np.zeros((1, 6), np.float32))
        return self._chips(0) + self._chips(1)

    def exploitability(self) -> float:
        """Compute the exploitability of the average strategies.

        It is half of the sum of both players' gains from best responses. For a restricted player it counts the gain of
        the free part as if it were the whole range.

        Returns:
            Chips per hand.
        """
        gain = self._both_values(BEST_RESPONSE)
        if self.game.rake.fraction > 0 or self.restricted is not None:
            gain -= self._both_values(AVERAGE)
        return 0.5 * gain

    def best_response_value(self, player: int) -> float:
        """Return the chips per hand of the player's best response to the other's average strategy."""
        return self._root_values(player, BEST_RESPONSE) + 0.5 * self.game.tree.dead

    def best_response(self, player: int, actions: NDArray[np.uint8]) -> float:
        """Compute a best response to the other player's average strategy.

        Args:
            player: the player who responds.
            actions: uint8 [entries] receives the index of each hand's action, in the first of a node's action rows
                (`VectorGame.rows`).

        Returns:
            Chips per hand of the response.
        """
        return self._root_values(player, RECORD, self._sweep._replace(best=actions)) + 0.5 * self.game.tree.dead

    def game_value(self, player: int = 0) -> float:
        """Return the player's chips per hand under the average profile.

        Without rake the values of both players sum to the dead chips.
        """
        return self._root_values(player, AVERAGE) + 0.5 * self.game.tree.dead

    def values(self, player: int, best_response: bool = False) -> Singles:
        """Compute the value of each hand.

        Args:
            best_response: let the player respond to the average profile instead of following it.

        Returns:
            float32 [H] chips of each hand, given that the opponent has a compatible hand in range; 0 for hands outside
            the range.
        """
        game = self.game
        hands = game.hands(player)
        raw = self._one_sweep(player, BEST_RESPONSE if best_response else AVERAGE)
        out = np.zeros(game.rules.num_hands, np.float32)
        compatible = game.compatible[player, hands]
        inside = compatible > 0
        out[hands[inside]] = raw[inside] / compatible[inside] + 0.5 * game.tree.dead
        return out

    def best_response_values(self, player: int) -> ResponseValues:
        """Return counterfactual values of the player's best response to the other's average strategy.

        They cover the nodes of the root's street and the start of the next street on each board.
        """
        return self._values_by_node(player, BEST_RESPONSE)

    def average_values(self, player: int) -> ResponseValues:
        """Return counterfactual values of the player's average strategy, at the nodes of `best_response_values`."""
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

    def strategy(self, node: int, board: Board | None = None, *, rare_by_regrets: bool = False) -> Singles:
        """Return the average strategy at a DECISION or CHOICE node.

        Args:
            board: cards of the board; None for the root's board.
            rare_by_regrets: as in `normalised_average`.

        Returns:
            float32 [H, A] probabilities; 0 for impossible hands, uniform where the average has no weight.

        Raises:
            PokernetsError: nobody acts at the node, or the board is not in the game.
        """
        return self._rows(node, board, lambda index: self._average(node, index, rare_by_regrets))

    def current_strategy(self, node: int, board: Board | None = None) -> Singles:
        """Return the strategy of the next iteration at a DECISION or CHOICE node.

        Args:
            board: cards of the board; None for the root's board.

        Returns:
            float32 [H, A] probabilities.

        Raises:
            PokernetsError: nobody acts at the node, or the board is not in the game.
        """
        return self._rows(node, board, lambda index: self._shares(self._source, node, index))

    def lock(self, node: int, probabilities: Singles | None = None) -> None:
        """Fix the strategy at a node, so that the rest is solved around it.

        Best responses follow it too. Call this before the first iteration.

        Args:
            node: decision node.
            probabilities: [H, A] strategy on every board; None for the average from `set_average`. Where boards are
                merged, it must not depend on the names of suits.

        Raises:
            PokernetsError: the solve has begun, or the strategy is invalid.
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
                "the locked strategy distinguishes suits that the game merges: make the game with isomorphism=False"
            )
        for index in game.on(int(game.tree.street[node])):
            own = rows[game.hands(int(game.tree.player[node]), index)]
            if (own.sum(axis=1) <= 0).any():
                raise PokernetsError(f"the strategy locked at `{game.tree.path_text(node)}` lacks an action for a hand")
            self.set_average(node, index, own / own.sum(axis=1, keepdims=True))

    @property
    def locked(self) -> bool:
        """Whether the strategy at some node is fixed."""
        return bool(self._sweep.nodes.locked.any())

    def restrict(self, player: int, modelled: Singles) -> None:
        """Make a part of a player's range play by a model.

        The rest of the range is solved, and `strategy` is the strategy of the rest. Call this before the first
        iteration.

        Args:
            modelled: float32 [entries] reach of the modelled part after each action
                (`poker.solve.modelled`).

        Raises:
            PokernetsError: the solve has begun.
        """
        if self.iterations:
            raise PokernetsError("restrict a player before the first iteration")
        self.restricted = player, modelled
        self._sweep = self._sweep._replace(modelled=modelled, modelled_player=player)

    def action_values(self, node: int) -> Singles:
        """Compute the value of each action at a node of the root's street.

        Both players follow the average profile after the action.

        Args:
            node: decision node.

        Returns:
            float32 [H, A] chips of the player who acts, given that the opponent has a hand of the arriving range. NaN
            for hands outside the range, or if the opponent never arrives here.

        Raises:
            PokernetsError: nobody acts at the node, or it is on a later street.
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
        """Return the average strategy in the layout of the kernels.

        Args:
            dtype: type of the result.
            rare_by_regrets: use the strategy of the next iteration for hands with little weight at a node. An average
                needs the player's own reach, regrets do not.

        Returns:
            [entries] probabilities; 0 in the padding of rows.
        """
        game, out = self.game, np.zeros(len(self._sums), dtype)
        for node in game.layout.decisions.tolist():
            for index in game.on(int(game.tree.street[node])):
                game.rows(out, node, index)[:] = self._average(node, index, rare_by_regrets)
        return out

    def set_average(self, node: int, board_index: int, rows: Singles) -> None:
        """Replace the average strategy at a node on one board.

        Args:
            node: decision node.
            rows: [n, A] strategy of the hands in the board's list.
        """
        self.game.rows(self._sums, node, board_index)[:] = rows.T

    def _rows(self, node: int, board: Board | None, of_board: Callable[[int], Singles]) -> Singles:
        game, tree = self.game, self.game.tree
        if game.layout.nodes.role[game.layout.position[node]] != ACT:
            raise PokernetsError(f"nobody acts at node {node} (`{tree.path_text(node)}`)")
        return game.by_hand(node, game.board if board is None else board, of_board)

    def _average(self, node: int, board: int, rare_by_regrets: bool) -> Singles:
        """Return the average strategy [A, n] on a board."""
        rows = self._shares(self._sums, node, board)
        if not rare_by_regrets:
            return rows
        weight = np.maximum(self.game.rows(self._sums, node, board), 0).sum(axis=0)
        return np.where(weight <= _MIN_WEIGHT * weight.max(), self._shares(self._source, node, board), rows)

    def _shares(self, array: Singles, node: int, board: int) -> Singles:
        """Return the strategy [A, n] proportional to the positive part of the rows, uniform where all are 0."""
        return shares(np.maximum(self.game.rows(array, node, board), 0))
