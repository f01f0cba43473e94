"""What ranges among the inputs and labels from solved play are worth to a leaf net: `solve`, `train`, then `measure`.

    python -m tests.bench.leaf_inputs solve FOLDER SEED SECONDS   # solved flops; repeat with other seeds
    python -m tests.bench.leaf_inputs train FOLDER                # four small nets, from all that was solved
    python -m tests.bench.leaf_inputs measure FOLDER FILE [--flops NAME ...]

`solve` draws flops that the blueprint reaches, solves each to the end of the hand with three rivers after each turn,
and labels pairs of hands at ends of the flop twice: with the blueprint's four continuations, and with the solution and
its three biased forms (the chosen class of actions times ten). Inputs are the project's 34, and the same with those of
strength replaced by strength against the ranges that come to the state. `measure` asks such nets six times during a
solve, with the ranges of the average strategies, and gives the losses of `tests.bench.six_flops`.
"""

import argparse
import itertools
import json
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from conf.compose import build, compose
from poker.abstraction.dealers import sample_boards
from poker.abstraction.equities import hand_ranks, showdown_equity
from poker.abstraction.features import ahead_now, all_in_equity
from poker.depth_limit.continuations.forms import Biased
from poker.depth_limit.continuations.rollout import Continuations
from poker.depth_limit.evaluator import LeafEvaluator, matched_pot
from poker.depth_limit.inputs import encode_pairs
from poker.depth_limit.leaves.blueprint_states import BlueprintStates
from poker.evaluation.leaf_values import arrival
from poker.game.beliefs import observe_board
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, CanonicalBoard
from poker.game.rules import CALL, FOLD
from poker.kernels.types import Board, Ranges, Singles
from poker.kernels.types import Path as Line
from poker.run.atomic import write_atomically
from poker.search.round_solver import DepthLimitedSolver, Request, SolverSettings, without_unlikely
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.leaves import LeafValues
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BettingTree, Kind, build_tree
from poker.tree.menus import bet_menu
from tests.bench.record import record
from tests.bench.six_flops import FLOPS, Flop, configuration, round_decisions

SETTINGS = ["search=demo", "scale=laptop", "artifacts=models/trained/laptop.bundle"]
NETS = {"new_solved": "ranges, solved", "new_bp": "ranges, blueprint", "old_solved": "today's, solved",
        "old_bp": "today's, blueprint"}  # fmt: skip
RIVERS, HANDS, STATES, PAIRS, RUNOUTS, ASKED = 3, 24, 8, 96, 24, 6
FORMS = 4


class Solved:
    """Values of pairs of hands at the ends of the flop of a solved game."""

    def __init__(self, solver: VectorSolver) -> None:
        self.game, self.tree = solver.game, solver.game.tree
        self.average = solver.normalised_average(rare_by_regrets=True)
        self.boards = {street: np.array(self.game.on(street)) for street in (2, 3)}
        self.place = {(player, street): self._places(player, street) for player in (0, 1) for street in (2, 3)}
        self.parent = self.game.boards.parent[self.boards[3]] - self.boards[2][0]
        weight = np.asarray(self.game.boards.boards.weight, np.float64)
        turns = weight[self.boards[2]]
        self.weight = {2: turns, 3: weight[self.boards[3]] * turns[self.parent]}
        flop = self.game.boards.cards[0]
        rest = [card for card in range(52) if card not in flop]
        self.ranks = {
            frozenset((a, b)): hand_ranks(self.game.rules, (*flop, a, b)).astype(np.int32)
            for a in rest for b in rest if a < b
        }  # fmt: skip

    def _places(self, player: int, street: int) -> Any:
        boards = self.game.on(street)
        out = np.full((len(boards), self.game.ranges.shape[1]), -1, np.int64)
        for row, board in enumerate(boards):
            hands = self.game.hands(player, board)
            out[row, hands] = np.arange(len(hands))
        return out

    def _forms(self, node: int, street: int, place: Any) -> Any:
        """Probabilities [K, boards, A, hands] of the solution and its biased forms."""
        game, player, boards = self.game, int(self.tree.player[node]), self.game.boards.boards
        padded = boards.padded[player, self.boards[street]].astype(np.int64)
        entry = int(game.layout.nodes.entry[game.layout.position[node]])
        start = boards.block[player, self.boards[street]].astype(np.int64) + entry * padded
        actions = self.tree.actions(node)
        rows = np.arange(len(actions))[None, :, None] * padded[:, None, None]
        out = np.repeat(
            self.average[start[:, None, None] + rows + np.maximum(place, 0)[:, None, :]][None], FORMS, axis=0
        )
        for number, action in enumerate(actions):
            out[1 if action == FOLD else 2 if action == CALL else 3, :, number] *= 10
        return out / np.maximum(out.sum(axis=2, keepdims=True), 1e-12)

    def _ends(self, leaf: int, place: Any) -> dict[int, list[tuple[int, bool, list[Any]]]]:
        """(chips of player 0, whether they are shown down, reach [K, boards, hands] by player) of ends, by street."""
        tree, ends = self.tree, {2: [], 3: []}  # type: ignore[var-annotated]

        def walk(node: int, reach: list[Any], street: int) -> None:
            kind, committed = tree.kind[node], tree.committed[node]
            if kind == Kind.DECISION:
                player = int(tree.player[node])
                forms = self._forms(node, street, place[player, street])
                for number, child in enumerate(tree.children(node)):
                    walk(child, [r * forms[:, :, number] if p == player else r for p, r in enumerate(reach)], street)
            elif kind == Kind.FOLD:
                ends[street].append((int(-committed[0] if tree.folded[node][0] else committed[1]), False, reach))
            elif kind == Kind.STREET and tree.kind[tree.after_deal(node)] != Kind.SHOWDOWN:
                walk(tree.children(node)[0], [r[:, self.parent] for r in reach], 3)
            else:
                ends[street].append((int(committed.min()), True, reach))

        ones = [np.ones((FORMS, len(self.boards[2]), place[player, 2].shape[1]), np.float32) for player in (0, 1)]
        walk(tree.children(leaf)[0], ones, 2)
        return ends

    def values(self, leaf: int, hands: Sequence[Any]) -> tuple[Any, Any]:
        """Net chips [own, K, hands, hands], where the opponent plays form K, and whether a pair can be dealt."""
        place = {key: rows[:, hands[key[0]]] for key, rows in self.place.items()}
        disjoint = HOLDEM.disjoint[np.ix_(*hands)]
        out, good = np.zeros((2, FORMS, *disjoint.shape)), disjoint
        for street, ends in self._ends(leaf, place).items():
            shown = np.stack([self._order(self.game.boards.cards[board], *hands) for board in self.boards[street]])
            values = np.zeros((2, FORMS, *shown.shape), np.float32)
            for own in (0, 1):
                for form in range(FORMS):
                    for showdown in {end[1] for end in ends}:
                        some = [end for end in ends if end[1] == showdown]
                        first = np.stack([reach[0][0 if own == 0 else form] * chips for chips, _, reach in some])
                        second = np.stack([reach[1][form if own == 0 else 0] for _, _, reach in some])
                        product = np.matmul(first.transpose(1, 2, 0), second.transpose(1, 0, 2))
                        values[own, form] += product * shown if showdown else product
            held = (place[0, street] >= 0)[:, :, None] & (place[1, street] >= 0)[:, None, :] & disjoint
            weight = self.weight[street][:, None, None] * held
            out += (values * weight).sum(axis=2) / np.maximum(weight.sum(axis=0), 1e-12)
            good = good & (weight.sum(axis=0) > 0)
        out[1] *= -1
        return out, good

    def _order(self, board: Board, first: Any, second: Any) -> Any:
        """1, 0 or -1 where player 0 wins, ties or loses on a river; the mean over rivers on a turn."""
        ranks = np.stack([rank for dealt, rank in self.ranks.items() if dealt >= set(board[3:])])
        a, b = ranks[:, first][:, :, None], ranks[:, second][:, None, :]
        live = (a >= 0) & (b >= 0)
        return ((np.sign(a - b) * live).sum(axis=0) / np.maximum(live.sum(axis=0), 1)).astype(np.float32)


def ranges_at(solver: VectorSolver, leaf: int) -> Ranges:
    """Ranges [2, H] that come to a state of the first round."""
    tree, ranges, node = solver.game.tree, solver.game.ranges.copy(), leaf
    while node:
        parent = int(tree.parent[node])
        if tree.kind[parent] == Kind.DECISION:
            ranges[tree.player[parent]] *= solver.strategy(parent)[:, node - int(tree.first_child[parent])]
        node = parent
    return ranges


@lru_cache(maxsize=4)
def _matrices(board: Board) -> Any:
    equity, ahead = all_in_equity(board).astype(np.float32), ahead_now(board).astype(np.float32)
    return equity, ahead, HOLDEM.possible(board).astype(np.float32), ahead * equity


def with_ranges(inputs: Any, board: Board, ranges: Ranges, own: int, hands: Sequence[Any]) -> Any:
    """Inputs [n, 34] with strength against `ranges` in place of strength against any hand; `hands` are own, other."""
    equity, ahead, possible, both = _matrices(tuple(map(int, board)))
    features, chances, masses = [], [], []
    for player in range(2):
        theirs = ranges[1 - player].astype(np.float32) / max(ranges[1 - player].sum(), 1e-30)
        mass, now, later, kept = possible @ theirs, ahead @ theirs, equity @ theirs, both @ theirs
        chance = later / np.maximum(mass, 1e-9)
        improves = np.where(mass - now > 1e-3 * mass, (later - kept) / np.maximum(mass - now, 1e-6), 0)
        worsens = np.where(now > 1e-3 * mass, 1 - kept / np.maximum(now, 1e-6), 0)
        mine = ranges[player].astype(np.float64) * mass
        order = np.argsort(chance, kind="stable")
        below = np.concatenate([[0], np.cumsum(mine[order])])
        low, high = (np.searchsorted(chance[order], chance, side=side) for side in ("left", "right"))
        rank = (below[low] + below[high]) / 2 / max(below[-1], 1e-30)
        columns = chance, now / np.maximum(mass, 1e-9), np.clip(improves, 0, 1), np.clip(worsens, 0, 1), rank
        features.append(np.stack(columns, axis=1) * possible.any(axis=1)[:, None])
        chances.append(chance)
        masses.append(mine / max(mine.sum(), 1e-30))
    out = inputs.copy()
    out[:, 0:5], out[:, 11:16] = features[own][hands[0]], features[1 - own][hands[1]]
    out[:, 10] = (chances[own] * masses[own]).sum()
    out[:, 21], out[:, 32] = ((masses[player] * (chances[player] > 0.75)).sum() for player in (own, 1 - own))
    return out


def solve(folder: Path, seed: int, seconds: float) -> None:
    """Write rows of solved flops to `folder`."""
    rng = np.random.default_rng(seed)
    config = compose("evaluate", ["evaluate=match", *SETTINGS, "agents=[blueprint]"])
    agent, game, blueprint, menu = (
        build(part) for part in (config.agent.blueprint, config.game, config.blueprint, config.search.menu)
    )
    ahead = bet_menu(turn=[[1.0], [1.0], []], river=[[1.0], []])
    continuations, states = Continuations(blueprint, Biased(10.0).of(blueprint)), BlueprintStates(blueprint.tree)

    def roll(betting: Betting, flop: Board, hands: Sequence[Any]) -> tuple[Any, Any]:
        """Values [own, K, hands, hands] of the blueprint's continuations in pots, and pairs dealt often enough."""
        node = states.node(betting, 1)
        control = showdown_equity(game, flop)[np.ix_(*hands)]
        rolled = continuations.values(node, sample_boards(game, flop, RUNOUTS, rng), hands[0], hands[1], control)
        return rolled.in_pots(int(blueprint.tree.committed[node].sum()))[0], rolled.count >= FORMS

    begun, rows, number = time.time(), list[Any](), 0
    while time.time() - begun < seconds:
        there = arrival(agent, game, 0, 0.2, rng)
        if there.end.is_over or there.end.street != 1:
            continue
        flop = CanonicalBoard.of(tuple(map(int, rng.choice(52, 3, replace=False)))).cards
        ranges = observe_board(there.ranges, flop).astype(np.float32)
        if rng.random() < 0.5:
            ranges *= np.exp(rng.normal(0, 0.7, ranges.shape)).astype(np.float32)
        ranges = np.stack([without_unlikely(row, rng.choice([1e-5, 1e-3, 0.02, 0.1])) for row in ranges])
        for row in ranges:
            live = np.flatnonzero(row)
            row[rng.choice(live, max(len(live) - int(rng.uniform(60, 160)), 0), replace=False)] = 0
        if min((ranges > 0).sum(axis=1)) < 5:
            continue
        tree = build_tree(there.end, menu.until(1, ahead))
        solver = VectorSolver(VectorGame(tree, flop, ranges, isomorphism=False, rivers=RIVERS), "apdcfr_short")
        solver.run(80, 0.006)
        values = Solved(solver)
        leaves = [leaf for leaf in _flop_ends(tree) if tree.kind[tree.after_deal(leaf)] == Kind.DECISION]
        reach = np.stack([ranges_at(solver, leaf) for leaf in leaves])
        mass = np.array(
            [float((first * HOLDEM.compatible_mass(second.astype(np.float64))).sum()) for first, second in reach]
        )
        likely = np.flatnonzero(mass > 1e-6)
        chance = np.sqrt(mass[likely]) / np.sqrt(mass[likely]).sum()
        for leaf in rng.choice(likely, min(STATES, len(likely)), replace=False, p=chance):
            rows += _rows(values, leaves[leaf], there.end, reach[leaf], roll, rng, number)
        number += 1
        if number % 50 == 0:
            _save(folder / f"{seed}.npz", rows)
    _save(folder / f"{seed}.npz", rows)


def _flop_ends(tree: BettingTree) -> list[int]:
    return [node for node in range(len(tree)) if tree.kind[node] == Kind.STREET and tree.street[node] == 1]


def _rows(values: Solved, leaf: int, root: Betting, reach: Any, roll: Any, rng: Any, group: int) -> Any:
    """Yield (old inputs, new inputs, labels of the blueprint, labels of the solution, solve) for both players."""
    tree, flop = values.tree, values.game.board
    live = values.game.ranges > 0
    weights = 0.7 * reach / reach.sum(axis=1, keepdims=True) + 0.3 * live / live.sum(axis=1, keepdims=True)
    weights = weights.astype(np.float64) / weights.sum(axis=1, keepdims=True, dtype=np.float64)
    hands = [np.sort(rng.choice(len(w), min(HANDS, int((w > 0).sum())), replace=False, p=w)) for w in weights]
    solved, good = values.values(leaf, hands)
    betting = tree.betting(tree.children(leaf)[0], root)
    blueprint, dealt = roll(betting, flop, hands)
    pairs = np.argwhere(good & dealt)
    first, second = pairs[rng.permutation(len(pairs))[:PAIRS]].T
    held = hands[0][first], hands[1][second]
    for own in (0, 1):
        old = encode_pairs(flop, betting, own, held[own], held[1 - own])
        new = with_ranges(old, flop, reach, own, (held[own], held[1 - own]))
        labels = blueprint[own][:, first, second].T, solved[own][:, first, second].T / betting.pot
        yield (*(np.asarray(x, np.float16) for x in (old, new, *labels)), np.full(len(first), group, np.int32))


def _save(file: Path, rows: Any) -> None:
    columns = ("old", "new", "bp", "solved", "group")
    np.savez(file, **{name: np.concatenate([row[i] for row in rows]) for i, name in enumerate(columns)})  # type: ignore[arg-type]


def _net() -> nn.Sequential:
    sizes = (34, 192, 128, 128)
    hidden = [part for a, b in itertools.pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*hidden, nn.Linear(sizes[-1], FORMS))


def train(folder: Path, epochs: int = 24) -> None:
    """Train a net for each kind of inputs and labels, on all solves but every twentieth."""
    parts, groups, offset = [np.load(file) for file in sorted(folder.glob("*.npz"))], [], 0
    for part in parts:
        groups.append(part["group"] + offset)
        offset += int(part["group"].max()) + 1
    held_out = np.concatenate(groups).astype(np.int64) * 2654435761 % 2**32 % 20 == 0
    columns = {
        name: np.concatenate([part[name] for part in parts]).astype(np.float32)
        for name in ("old", "new", "bp", "solved")
    }
    for name in NETS:
        x, y = (columns[part] for part in name.split("_"))
        sound = np.isfinite(x).all(1) & np.isfinite(y).all(1)
        chosen = np.flatnonzero(sound & ~held_out)
        mean, deviation = x[chosen].mean(0), x[chosen].std(0) + 1e-6
        inputs, labels = torch.tensor((x - mean) / deviation), torch.tensor(y)
        torch.manual_seed(0)
        net, loss, rng = _net(), nn.HuberLoss(), np.random.default_rng(0)
        optimizer, steps = torch.optim.Adam(net.parameters(), lr=2e-3), len(chosen) // 1024
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * steps)
        for _ in range(epochs):
            order = torch.from_numpy(rng.permutation(chosen))
            for step in range(steps):
                batch = order[step * 1024 : (step + 1) * 1024]
                optimizer.zero_grad()
                loss(net(inputs[batch]), labels[batch]).backward()
                optimizer.step()
                schedule.step()
        with torch.inference_mode():
            test = float(loss(net(inputs[sound & held_out]), labels[sound & held_out]))
        torch.save(
            {"net": net.state_dict(), "mean": torch.tensor(mean), "std": torch.tensor(deviation)}, folder / f"{name}.pt"
        )
        print(f"{name}: {len(chosen)} rows of {offset} solves, Huber loss {test:.5f}", flush=True)


class SmallLeaf(LeafEvaluator):
    """Values of a small net for all pairs of hands, with the ranges of `ranges` at the ends."""

    def __init__(self, file: Path) -> None:
        kept = torch.load(file, weights_only=True)
        self.net, self.mean, self.std = _net(), kept["mean"].numpy(), kept["std"].numpy()
        self.net.load_state_dict(kept["net"])
        self.num_continuations, self.with_ranges = FORMS, file.stem.startswith("new")
        self.ranges: list[Ranges] | None = None

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        live = [np.flatnonzero(row > 0) for row in ranges]
        clusters = np.full(ranges.shape, -1, np.int32)
        for row, hands in zip(clusters, live, strict=True):
            row[hands] = np.arange(len(hands))
        mine, theirs = (grid.ravel() for grid in np.meshgrid(live[own], live[1 - own], indexing="ij"))
        equity = showdown_equity(leaves[0].rules, board)[np.ix_(live[own], live[1 - own])]
        out = np.empty((len(leaves), FORMS, *equity.shape), np.float32)
        for number, leaf in enumerate(leaves):
            if leaf.is_over:
                out[number] = matched_pot(leaf) * (equity - 0.5)
                continue
            x = encode_pairs(board, leaf, own, mine, theirs)
            if self.with_ranges:
                come = ranges if self.ranges is None else self.ranges[number]
                x = with_ranges(x, board, come, own, (mine, theirs))
            x = (x.astype(np.float16).astype(np.float32) - self.mean) / self.std
            with torch.inference_mode():
                y = torch.cat([self.net(part) for part in torch.split(torch.from_numpy(x), 8192)]).numpy()
            out[number] = matched_pot(leaf) * y.T.reshape(FORMS, *equity.shape)
        return LeafValues(own=own, own_cluster=clusters[own], opp_cluster=clusters[1 - own], values=out)


def measure(folder: Path, file: Path, flops: Sequence[str], solutions: Path | None) -> None:
    """Write the losses of the nets in `folder` and of the bundle's net to FILE."""
    specs, rows = json.loads(FLOPS.read_text()), list[dict[str, Any]]()
    search = build(configuration(SETTINGS, "blueprint").search)
    for name in flops:
        flop = Flop(name, specs[name], configuration(SETTINGS, "blueprint"), False, solutions)
        row, played = flop.row("net, four values", SETTINGS[1:])
        rows.append(row)
        for net, title in NETS.items():
            leaf, play = SmallLeaf(folder / f"{net}.pt"), dict[Line, Singles]()
            settings = SolverSettings("apdcfr_short", (120, 200, 200, 400), 1, 0.002)
            for seat in range(2):
                leaf.ranges = None
                for _ in range(ASKED if leaf.with_ranges else 1):
                    solving = DepthLimitedSolver(search.menu, search.ahead, {1: leaf}, settings)
                    solver = solving.solved(Request(flop.root, flop.board, flop.ranges, seat), every_hand=True)
                    come = [ranges_at(solver, state) for state in solver.game.tree.leaves.tolist()]
                    leaf.ranges = (
                        come if leaf.ranges is None else [0.5 * (a + b) for a, b in zip(leaf.ranges, come, strict=True)]
                    )
                tree = solver.game.tree
                play |= {tree.path(n): solver.strategy(n) for n in round_decisions(tree) if tree.player[n] == seat}
            losses = {kind: flop.loss(play, believed) for kind, believed in (("best", False), ("plays", True))}
            rows.append({"flop": name, "play": title, **losses, "rival": flop.given_away(play)})
            print(rows[-1], flush=True)
            write_atomically(file, json.dumps(record(played, rows=rows), indent=1).encode())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.leaf_inputs")
    parser.add_argument("stage", choices=("solve", "train", "measure"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--flops", nargs="+", default=["public", "two_tone", "monotone"])
    parser.add_argument("--solutions", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.stage == "solve":
        solve(options.folder, int(options.rest[0]), float(options.rest[1]))
    elif options.stage == "train":
        train(options.folder)
    else:
        measure(options.folder, Path(options.rest[0]), options.flops, options.solutions)


if __name__ == "__main__":
    main()
