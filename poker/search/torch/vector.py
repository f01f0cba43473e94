"""The vector engine on torch: the same layout, boards and update rule, on any device, many subgames at once.

Games whose betting has one shape (`layout.shape_of`) are solved as a batch: their boards, street by street, are
one dimension. Work is level-synchronous: nodes of one depth, player and number of actions are one group. Shapes: G
games, B boards of a street, N hands of a player on a board (padded to the most), R rows, E action rows, A actions.
float32; strategies equal those of `VectorSolver` to rounding. On a CUDA device an iteration is captured once and
replayed as a graph.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from poker.errors import PokernetsError
from poker.search.torch.layout import DecisionGroup, Tensors, shape_of
from poker.search.torch.terminals import fold_values, proportions, showdown_values
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.layout import Layout, tree_layout
from poker.solvers.vector.schedules import Schedule, schedule
from poker.solvers.vector.solver import VectorSolver
from poker.types import Floats, Singles

ONE_BATCH = 1 << 30
"""Rows to a batch of components: all of a street."""

FEWEST_BETWEEN = 20
"""Iterations between two measurements, at first."""

SOLVE, BEST_RESPONSE, AVERAGE = "solve", "best_response", "average"


class TorchVectorSolver:
    """Solves games of one shape together. `algorithm` is that of `VectorSolver`."""

    def __init__(
        self, games: Sequence[VectorGame], algorithm: str | Schedule = "apdcfr", *, device: str | torch.device = "cpu"
    ) -> None:
        if any(shape_of(game) != shape_of(games[0]) for game in games[1:]):
            raise PokernetsError("games of a batch share the shape of their betting and the rake")
        gadget = games[0].tree.gadget
        if gadget is not None and gadget.street != games[0].layout.first_street:
            raise PokernetsError("the torch backend solves gadgets at the root only; use VectorSolver, on the CPU")
        self.games = tuple(games)
        self.layout: Layout = tree_layout(games[0].tree, games[0].rake, ONE_BATCH)
        self.schedule = schedule(algorithm)
        self.device = torch.device(device)
        self.iterations = 0
        self._tensors = Tensors(self.games, self.layout, self.device)
        self._streets = self._tensors.streets
        self.rows: dict[tuple[str, int, int], Tensor] = {}
        """[E, B, N] by name, street and player."""
        for street, made in self._streets.items():
            for player in range(2):
                shape = int(self.layout.entries[street, player]), *made.hands[player].live.shape
                for name in ("regrets", "sums", *(("source",) if self.schedule.predictive else ())):
                    self.rows[name, street, player] = torch.zeros(shape, device=self.device)
        self._root = self._tensors.root
        self._parameters = torch.zeros(6, device=self.device)
        self._graph: torch.cuda.CUDAGraph | None = None

    def run(self, iterations: int) -> None:
        """Run `iterations` more for every game of the batch."""
        rows = torch.from_numpy(self.schedule.parameters(self.iterations + 1, iterations)).to(self.device)
        for row in rows:
            self._parameters.copy_(row)
            self._iterate()
        self.iterations += iterations

    def _iterate(self) -> None:
        if self.device.type != "cuda":
            self._both()
            return
        if self._graph is None:
            saved = {key: tensor.clone() for key, tensor in self.rows.items()}
            stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self._both()
            torch.cuda.current_stream().wait_stream(stream)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._both()
            for key, tensor in saved.items():
                self.rows[key].copy_(tensor)
        self._graph.replay()

    def _both(self) -> None:
        for player in range(2):
            self._sweep(player, SOLVE)

    def run_until(self, targets: Floats, seconds: float, most: int, reached: Callable[[int], None]) -> None:
        """Iterates until every game is at most as exploitable as its target, in chips, the time is up or `most`
        iterations are done. `reached` is called with the number of each game once, when it is there or the rest is
        over: games measure and stop alike, whatever else is in the batch."""
        begin, block = time.perf_counter(), FEWEST_BETWEEN if seconds == np.inf else 1
        left = np.ones(len(targets), np.bool_)
        while left.any():
            self.run(min(block, most - self.iterations))
            spent = time.perf_counter() - begin
            over = spent >= seconds or self.iterations >= most
            done = left & (over | (self.exploitability() <= targets))
            for number in np.flatnonzero(done).tolist():
                reached(number)
            left &= ~done
            affordable = 0.5 * (seconds - spent) * self.iterations / spent
            block = max(1, int(min(affordable, max(FEWEST_BETWEEN, self.iterations // 5))))

    def export(self, number: int, solver: VectorSolver) -> None:
        """Leave the strategies of one game, its average and its next, in a numba solver of the same game."""
        game, boards = self.games[number], self.games[number].boards.boards
        for (name, street, player), rows in self.rows.items():
            on = game.on(street)
            if name not in solver.arrays or (name == "regrets" and self.schedule.predictive):
                continue
            array, found = solver.arrays[name], rows[:, self._boards(number, street)].cpu().numpy()
            for row, board in enumerate(on):
                start, padded = int(boards.block[player, board]), int(boards.padded[player, board])
                block = array[start : start + len(found) * padded].reshape(len(found), padded)
                size = int(boards.size[player, board])
                block[:, :size] = found[:, row, :size]
        solver.iterations = self.iterations

    def _rows(self, name: str, node: int, game: int) -> Tensor:
        """[A, B, N] of a decision, on the boards of one game."""
        tree = self.games[0].tree
        street, player = int(tree.street[node]), int(tree.player[node])
        entry, actions = int(self.layout.nodes.entry[self.layout.position[node]]), int(tree.num_children[node])
        return self.rows[name, street, player][entry : entry + actions, self._boards(game, street)]

    def _boards(self, game: int, street: int) -> slice:
        """Where the boards of one game are among those of a street."""
        before = sum(len(other.on(street)) for other in self.games[:game])
        return slice(before, before + len(self.games[game].on(street)))

    def restrict(self, player: int, modelled: Sequence[Singles]) -> None:
        """Let a part of the range of `player` play by a model in each game of the batch; see
        `VectorSolver.restrict`."""
        if self.iterations:
            raise PokernetsError("restrict a player before the first iteration")
        for street in self._streets:
            self.rows["modelled", street, player] = torch.zeros_like(self.rows["sums", street, player])
        for number, (game, reach) in enumerate(zip(self.games, modelled, strict=True)):
            for node in game.layout.decisions[game.tree.player[game.layout.decisions] == player].tolist():
                rows = self._rows("modelled", node, number)
                for row, index in enumerate(game.on(int(game.tree.street[node]))):
                    listed = game.rows(reach, node, index)
                    rows[:, row, : listed.shape[1]] = torch.from_numpy(listed)

    def sweep(self, player: int, parameters: Singles) -> None:
        """One update of `player` in every game, with the parameters [6] of an iteration."""
        self._parameters.copy_(torch.from_numpy(parameters))
        self._sweep(player, SOLVE)

    def exploitability(self) -> Floats:
        """float64[G]: half of what both players gain by best responses, chips per hand; see `VectorSolver`."""
        gain = self._root_values(0, BEST_RESPONSE) + self._root_values(1, BEST_RESPONSE)
        if self.games[0].rake.fraction > 0 or any(name == "modelled" for name, _, _ in self.rows):
            gain -= self._root_values(0, AVERAGE) + self._root_values(1, AVERAGE)
        return 0.5 * gain

    def _root_values(self, player: int, mode: str) -> Floats:
        values = self._sweep(player, mode).double()
        weighted = (values * self._root[player].double()).sum(dim=1).cpu().numpy()
        return np.asarray(weighted / np.array([game.total_weight for game in self.games]))

    def _sweep(self, p: int, mode: str) -> Tensor:
        """Values [G, N] of player p's hands at the root."""
        reach = self._root[1 - p][None]
        return self._round(self.layout.first_street, p, mode, reach)[0]

    def _round(self, street: int, p: int, mode: str, arriving: Tensor) -> Tensor:
        """Values [roots, B, N] at the components of a street, given the opponent's reach there [roots, B, N']."""
        made, layout = self._streets[street], self.layout
        opponent = 1 - p
        boards, width = made.hands[opponent].live.shape
        reach = torch.zeros((int(layout.reach_rows[street]) + 1, boards, width), device=self.device)
        reach[self._tensors.root_rows[street, p]] = arriving
        own_width = made.hands[p].live.shape[1]
        values = torch.zeros((int(layout.value_rows[street]) + 1, boards, own_width), device=self.device)
        gadget = self._tensors.gadgets.get(p) if street == layout.first_street else None
        for group in made.groups[p]:
            if group.player == opponent:
                self._push(street, group, mode, reach)
        if street < layout.last_street:
            values[: int(layout.num_slots[street])] = self._deal(street, p, mode, reach)
        if gadget is not None and not gadget.own:  # hands that stay out count with what they have
            reach[gadget.below] *= gadget.alternatives
        self._terminals(street, p, reach, values)
        if gadget is not None and gadget.own:
            values[gadget.other] = values[gadget.held] * gadget.alternatives
        for group in reversed(made.groups[p]):
            self._pull(street, p, group, mode, values)
        rows, scales = self._tensors.root_values_at[street, p]
        return values[rows] * scales[..., None]

    def _push(self, street: int, group: DecisionGroup, mode: str, reach: Tensor) -> None:
        sums = self.rows["sums", street, group.player]
        source = sums if mode != SOLVE else self._source(street, group.player)
        shares = proportions(source[group.entries].clamp(min=0))
        modelled = self.rows.get(("modelled", street, group.player))
        if modelled is None:
            children = reach[group.reach][:, None] * shares
            reach[group.child_reach] = children
        else:
            held = modelled[group.entries]
            children = (reach[group.reach] - held.sum(dim=1)).clamp(min=0)[:, None] * shares
            reach[group.child_reach] = children + held
        if mode == SOLVE:
            sums[group.entries] = sums[group.entries] * self._parameters[5] + children

    def _pull(self, street: int, p: int, group: DecisionGroup, mode: str, values: Tensor) -> None:
        children = values[group.child_value] * group.scales[..., None]
        if group.player != p:
            values[group.value] = children.sum(dim=1)
            return
        if mode == BEST_RESPONSE:
            values[group.value] = children.amax(dim=1)
            return
        source = self.rows["sums", street, p] if mode == AVERAGE else self._source(street, p)
        shares = proportions(source[group.entries].clamp(min=0))
        value = (shares * children).sum(dim=1)
        values[group.value] = value
        if mode == AVERAGE:
            return
        positive, negative, floor, carry, prediction = self._parameters[:5]
        regrets = self.rows["regrets", street, p]
        gain, old = children - value[:, None], regrets[group.entries]
        new = torch.maximum(old * torch.where(old > 0, positive, negative) + gain, floor)
        regrets[group.entries] = new
        if self.schedule.predictive:
            self.rows["source", street, p][group.entries] = new * carry + gain * prediction

    def _source(self, street: int, player: int) -> Tensor:
        return self.rows["source" if self.schedule.predictive else "regrets", street, player]

    def _deal(self, street: int, p: int, mode: str, reach: Tensor) -> Tensor:
        """Values [slots, B, N] at the STREET nodes: the next street's boards, weighted and added up."""
        below = self._streets[street + 1]
        theirs, own = below.hands[1 - p], below.hands[p]
        deals = self._tensors.deal_rows[street + 1, p]
        above = reach[deals][:, below.parent]
        arriving = above.gather(2, theirs.up.expand(len(deals), -1, -1)) * theirs.live
        found = self._round(street + 1, p, mode, arriving) * (below.weight[:, None] * own.live)
        slots = self._tensors.deal_slots[street + 1]
        here = self._streets[street].hands[p].live
        places = (below.parent[:, None] * here.shape[1] + own.up).reshape(1, -1).expand(len(slots), -1)
        added = torch.zeros((len(slots), here.numel()), device=self.device)
        added.scatter_add_(1, places, found.reshape(len(slots), -1))
        out = torch.zeros((int(self.layout.num_slots[street]), *here.shape), device=self.device)
        out[slots] = added.view(len(slots), *here.shape)
        return self._over_orbits(street, p, out)

    def _over_orbits(self, street: int, p: int, values: Tensor) -> Tensor:
        made = self._streets[street]
        if not made.symmetric:
            return values
        orbit, live = made.hands[p].orbit, made.hands[p].live
        sums = torch.zeros_like(values).scatter_add_(2, orbit.expand_as(values), values * live)
        sizes = torch.zeros_like(live).scatter_add_(1, orbit, live)
        return (sums / sizes.clamp(min=1)).gather(2, orbit.expand_as(values)) * live

    def _terminals(self, street: int, p: int, reach: Tensor, values: Tensor) -> None:
        tables = self._tensors.tables[street, p]
        own, theirs = self._streets[street].hands[p], self._streets[street].hands[1 - p]
        folds, shows, runouts = tables["folds"], tables["shows"], tables["runouts"]
        if len(folds):
            values[folds[:, 1]] = fold_values(reach[folds[:, 0]], own, theirs)
        if len(shows):
            values[shows[:, 1]] = showdown_values(reach[shows[:, 0]], own, theirs)
        if len(runouts):
            matrix = self._streets[street].runouts
            assert matrix is not None
            rule = "rbj,bji->rbi" if p == 0 else "rbi,bji->rbj"
            values[runouts[:, 1]] = torch.einsum(rule, reach[runouts[:, 0]], matrix) * (1.0 if p == 0 else -1.0)
        for target, won, held, a, b in self._tensors.mixed[street, p]:
            values[target] = values[won] * a + values[held] * b
        if len(tables["leaves"]):
            values[tables["leaves"][:, 1]] = self._leaf_values(p, street, reach[tables["leaves"][:, 0]])

    def _leaf_values(self, p: int, street: int, reach: Tensor) -> Tensor:
        """Values [R, B, N] at LEAFs: the cluster matrix on the reach, less what shares a card with the hand."""
        own, theirs = self._streets[street].hands[p], self._streets[street].hands[1 - p]
        matrices, clusters = self._tensors.leaves[street, p], self._tensors.clusters
        mine, other = clusters[street, p], clusters[street, 1 - p]
        number, boards = matrices.shape[3], reach.shape[1]
        known = reach * (other >= 0)
        index = other.clamp(min=0).expand_as(reach)
        totals = torch.zeros((len(reach), boards, number), device=self.device).scatter_add_(2, index, known)
        slots = self.games[0].boards.num_card_slots
        parts = torch.zeros((len(reach), boards, slots * number), device=self.device)
        for side in range(2):
            parts.scatter_add_(2, theirs.cards[..., side] * number + index, known)
        by_card = torch.einsum("rbkc,rbsc->rbks", matrices, parts.view(len(reach), boards, slots, number))
        whole = torch.einsum("rbkc,rbc->rbk", matrices, totals)
        chosen = mine.clamp(min=0).expand(len(reach), -1, -1)
        value = whole.gather(2, chosen)
        flat = by_card.reshape(len(reach), boards, -1)
        for side in range(2):
            value = value - flat.gather(2, chosen * slots + own.cards[..., side].expand_as(chosen))
        padded = torch.cat([known, torch.zeros_like(known[..., :1])], dim=2)
        same = own.twin.clamp(max=known.shape[2])
        held = padded.gather(2, same.expand(len(reach), -1, -1))
        of_twin = torch.cat([other, torch.zeros_like(other[:, :1])], dim=1).clamp(min=0).gather(1, same)
        pair = matrices.flatten(2).expand(-1, boards, -1)
        value = value + held * pair.gather(2, chosen * number + of_twin.expand_as(chosen))
        return value * (mine >= 0) * own.live
