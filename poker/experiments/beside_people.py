"""`evaluate=beside_people`: agents beside the hands of people, or of other programs, at tables of any size.

Frequencies by position are those of the players in the hands, and of each agent at every seat of a table with itself;
the page has charts of what each agent opens with.
The likelihood of an action is what an agent's policy gives to folding, calling or raising (of any size) with the
player's cards; a share of `_CHANCE` is put down to chance, so that no single action decides.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from poker.agents.base import PolicyAgent, hand_number, require_policy
from poker.evaluation.matches.match import WIDTH
from poker.formats.histories import read_hands
from poker.formats.played import HistoryError, PlayedHand
from poker.game.betting import Betting
from poker.game.cards import NUM_HANDS, PREFLOP_CLASS, PREFLOP_CLASS_SIZE
from poker.game.rules import CALL, FOLD, STREET_NAMES, Rules
from poker.game.state import HandState, public_state
from poker.kernels.types import Floats
from poker.opponents.profiles import C_BET, FOLD_TO_C_BET, PFR, THREE_BET, VPIP, Profile, choices
from poker.play.hand import play_hand
from poker.play.lineup import AgentSpec
from poker.report import RangeGrids, Report, Section, Table
from poker.report.estimates import difference, estimate
from poker.run.errors import PokernetsError
from poker.store.artifacts import fingerprint_of

MEASURES = (VPIP, PFR, THREE_BET, C_BET, FOLD_TO_C_BET)
_CHANCE = 0.01
_BY_CHANCE = "uniform"


def run(
    *,
    game: Rules,
    agents: Sequence[AgentSpec],
    log: str | Sequence[str],
    player: str | None,
    hands: int,
    seed: int,
    out: str,
) -> dict[str, Any]:
    """Read the files `log` (a folder: all files in it) and let each agent play `hands` hands with itself; `player` is
    told apart from the others in the files. Returns the record of the report."""
    errors: list[HistoryError] = []
    read = [hand for path in _files(log) for hand in read_hands(path, game, errors.append)]
    played = [hand for hand in read if not hand.rules.forced and _plays(hand.rules, game)]
    if not played:
        table = f"{game.num_players} players, blinds {game.blinds[0]} and {game.blinds[1]}, stacks {game.stacks[0]}"
        raise PokernetsError(f"{len(read)} hands were read, none of them of `{game.name}`: {table}")
    built = {spec.name: require_policy(spec.build(game), "evaluate=beside_people") for spec in agents}
    seen = Frequencies(game.positions)
    for hand in played:
        seen.add(hand.state.betting, [_group(name, player) for name in hand.names])
    for spec in agents:
        for state in _own_play(game, spec, hands, seed):
            seen.add(state.betting, [spec.name] * game.num_players)
    by_group = likelihoods(played, built, player)
    groups = [*([player] if player else []), _group(None, player), *built]
    charts = {(name, seat): shares for name, agent in built.items() for seat, shares in first_in(game, agent).items()}
    sections: list[Section] = [
        seen.table(groups),
        *(_likelihood_table(group, by_group[group]) for group in groups if group in by_group),
        RangeGrids(
            lambda: {f"{name}, {seat}": shares for (name, seat), shares in charts.items()},
            "Before the flop, when all before have folded",
        ),
    ]
    record = {
        "game": game.name,
        "hands": len(played),
        "left_out": len(read) - len(played),
        "unreadable": len(errors),
        "own_hands": hands,
        "seed": seed,
        "frequencies": seen.record(groups),
        "first_in": [
            {"of": name, "position": seat, **dict(zip(("fold", "call", "raise"), _by_hands(shares), strict=True))}
            for (name, seat), shares in charts.items()
        ],
        "likelihood": {group: _record(by_street) for group, by_street in by_group.items()},
    }
    title = f"{game.name}: {len(played):,} hands read, {hands:,} of each agent with itself"
    target = Path(out) / game.name / f"seed{seed}-{fingerprint_of([str(log), player, hands, list(built)])[:8]}"
    return Report(title, sections, record).write(target, Console(width=WIDTH))


def first_in(game: Rules, agent: PolicyAgent) -> dict[str, Floats]:
    """[169, 3] how often each class of hands folds, calls and raises where all before have folded, by position."""
    by_position, betting, names = {}, Betting.start(game), game.positions
    while not betting.is_over and betting.legal().fold:
        actions, probs = agent.policy(public_state(betting, ()))
        by_kind = np.stack([probs[:, np.sign(actions) == kind].sum(axis=1) for kind in (FOLD, CALL, 1)], axis=1)
        sums = np.stack([np.bincount(PREFLOP_CLASS, column) for column in by_kind.T], axis=1)
        by_position[names[betting.to_act]] = sums / PREFLOP_CLASS_SIZE[:, None]
        betting = betting.apply(FOLD)
    return by_position


def _by_hands(shares: Floats) -> list[float]:
    """[3] shares over all hands, from those of each class [169, 3]."""
    by_action: list[float] = (PREFLOP_CLASS_SIZE @ shares / NUM_HANDS).tolist()
    return by_action


class Frequencies:
    """Counts of `choices` by group and position."""

    def __init__(self, positions: tuple[str, ...]) -> None:
        self._positions = positions
        self._profiles: defaultdict[tuple[str, str], Profile] = defaultdict(Profile)

    def add(self, betting: Betting, groups: Sequence[str]) -> None:
        """Count a hand of players who belong to `groups` [P]."""
        for measure, player, done in choices(betting):
            self._profiles[groups[player], self._positions[player]].count(measure, done)

    def _of(self, group: str) -> dict[str, Profile]:
        return {position: self._profiles[group, position] for position in self._positions}

    def table(self, groups: Sequence[str]) -> Table:
        rows = [
            [measure, group, *(profile.share(measure) for profile in self._of(group).values())]
            for measure in MEASURES
            for group in groups
        ]
        return Table(("", "", *self._positions), rows, "Frequencies by position")

    def record(self, groups: Sequence[str]) -> list[dict[str, object]]:
        return [
            {
                "measure": measure,
                "of": group,
                "asked": {place: profile.opportunities[measure] for place, profile in self._of(group).items()},
                "share": {place: profile.share(measure) for place, profile in self._of(group).items()},
            }
            for measure in MEASURES
            for group in groups
        ]


def likelihoods(
    hands: Iterable[PlayedHand], agents: dict[str, PolicyAgent], player: str | None
) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Mean log-likelihoods of each hand's actions, by group, street and agent (`uniform` among them); hands in the
    same order for all agents."""
    means: dict[str, dict[str, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for hand in hands:
        logs: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        for betting, actor, action in hand.state.betting.turns():
            state, legal = HandState(betting, hand.state.hole_cards, hand.state.runout), betting.legal()
            options = legal.fold + 1 + (legal.max_raise > 0)
            if actor != betting.to_act or not hand.state.hole_cards[actor] or options == 1:
                continue
            where = _group(hand.names[actor], player), STREET_NAMES[betting.street]
            logs[*where, _BY_CHANCE].append(-math.log(options))
            for name, agent in agents.items():
                chosen = _probability(agent, state, action)
                logs[*where, name].append(math.log((1 - _CHANCE) * chosen + _CHANCE / options))
        for (group, street, name), values in logs.items():
            means[group][street][name].append(float(np.mean(values)))
    return means


def _probability(agent: PolicyAgent, state: HandState, action: int) -> float:
    """Probability under the agent's policy of the kind of `action`: fold, call or raise."""
    actions, probs = agent.policy(state)
    row = probs[hand_number(state, state.to_act)]
    alike = [place for place, other in enumerate(actions) if np.sign(other) == np.sign(action)]
    return float(row[alike].sum() / row.sum())


def _likelihood_table(group: str, by_street: dict[str, dict[str, list[float]]]) -> Table:
    names = list(next(iter(by_street.values())))
    rows = []
    for street in (street for street in STREET_NAMES if street in by_street):
        units = by_street[street]
        rows.append([street, len(units[_BY_CHANCE]), *(estimate(units[name]) for name in names)])
    note = "mean log-likelihood of fold, call or raise; a hand is one unit of the intervals"
    return Table(("street", "hands", *names), rows, f"Decisions of {group} under each policy", note)


def _record(by_street: dict[str, dict[str, list[float]]]) -> list[dict[str, object]]:
    """Rows by street and policy; `above` has the paired differences to the other policies."""
    rows: list[dict[str, object]] = []
    for street, units in by_street.items():
        for name, values in units.items():
            logs = np.array(values)
            above = {
                other: difference(logs, np.array(theirs)).record() for other, theirs in units.items() if other != name
            }
            row = {"street": street, "policy": name, "hands": len(values)}
            rows.append({**row, "log_likelihood": estimate(logs).record(), "above": above})
    return rows


def _own_play(game: Rules, spec: AgentSpec, hands: int, seed: int) -> Iterator[HandState]:
    rng, players = np.random.default_rng(seed), [spec.build(game) for _ in range(game.num_players)]
    for number, agent in enumerate(players):
        agent.reset(seed + number)
    for _ in range(hands):
        yield play_hand(players, HandState.deal(game, rng))


def _files(log: str | Sequence[str]) -> list[Path]:
    paths = [Path(name) for name in ([log] if isinstance(log, str) else log)]
    return list(chain.from_iterable(sorted(path.iterdir()) if path.is_dir() else [path] for path in paths))


def _plays(rules: Rules, game: Rules) -> bool:
    """Whether a hand is of the game, in whole numbers of its chips."""
    return all(getattr(rules, name) == getattr(game, name) for name in ("betting", "blinds", "stacks", "board_cards"))


def _group(name: str | None, player: str | None) -> str:
    return name if player and name == player else "others" if player else "players"
