"""Profit of an adversary that looks ahead, on turns and rivers: `python -m tests.bench.look_ahead AGENT DEALS FILE`.

The adversary plays as the agent does until its street, so hands that end before that, and what both win there, cancel
over its two seats. What is left of a deal is the value of its plan where the agent comes to its street by itself:
over all hands of both ranges, all actions and, on the turn, rivers drawn apart from those of the plan. That is the mean
of its winnings in play without the luck of cards and actions. FILE.jsonl keeps deals, and the command goes on there.
With `--from river`, before AGENT, it plans from rivers alone, which is quick.

Settings may follow, such as `adversaries=[look_ahead]`; the other of the two bets what the agent does not know.
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from conf.compose import build, compose
from poker.agents.base import SamplingAgent, SolvingAgent
from poker.agents.look_ahead import GainsByAction, LookAheadActions, LookAheadResponse
from poker.game.betting import Betting
from poker.game.rules import STREET_NAMES, Rules
from poker.game.state import HandState, public_state
from poker.kernels.types import Board
from poker.report.estimates import estimate
from poker.run.atomic import write_atomically
from poker.store.lines import JsonLines
from tests.bench.record import record

ADVERSARIES = "look_ahead", "look_ahead_unknown_sizes"
STREETS = {"turn": 2, "river": 3}
RIVERS = 2
"""Drawn to value a plan made on the turn."""


def main(name: str, deals: int, out: Path, streets: list[str], settings: list[str]) -> None:
    if not any(setting.startswith("adversaries=") for setting in settings):
        settings = [*settings, f"adversaries=[{','.join(ADVERSARIES)}]"]
    config = compose("evaluate", ["evaluate=lbr", f"agents=[{name}]", *settings])
    rules: Rules = build(config.game)
    agent: SamplingAgent = build(config.agent[name])
    if isinstance(agent, SolvingAgent):  # its solutions serve all bets that they hold
        agent.solved_values(public_state(Betting.start(rules), ()), 0)
    actions: dict[str, LookAheadActions] = {str(adversary): build(node) for adversary, node in config.adversary.items()}
    planners = {
        street: {
            adversary: LookAheadResponse(
                name=adversary, game=rules, opponent=agent, actions=replace(actions[adversary], plans_from=number)
            )
            for adversary in actions
        }
        for street, number in STREETS.items()
        if street in streets
    }
    lines = JsonLines(out.with_suffix(".jsonl"))
    lines.cut_unfinished()
    rows: list[dict[str, Any]] = list(lines.rows())
    for deal in range(len(rows), deals):
        rows.append(_deal(rules, agent, planners, deal))
        lines.append([rows[-1]])
    results: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for street, adversary in product(planners, actions):
        said = {"agent": agent.name, "from": street, "adversary": adversary}
        chips = [row[street][adversary] for row in rows]
        pots = [Betting.parse(rules, row["lines"][street]).pot if street in row["lines"] else 0 for row in rows]
        percent = np.array([100 * won / pot for won, pot in zip(chips, pots, strict=True) if pot])
        results.append({**said, "wins": _mbb(rules, chips), "percent_of_pot": estimate(percent).record()})
        by_action = [row["parts"][street].get(adversary, {}) for row in rows]
        for action in sorted({action for part in by_action for action in part}):
            wins = _mbb(rules, [part.get(action, 0.0) for part in by_action])
            parts.append({**said, "action": action, "wins": wins})
    reached = {street: sum(street in row["lines"] for row in rows) for street in planners}
    tables = {
        "rows": results,
        "parts": parts,
        "decisions": [_decisions(rows, agent.name, street) for street in STREET_NAMES],
    }
    content = record(
        agent=name, deals=len(rows), reached=reached, rivers=RIVERS, unit="mbb/hand", **tables, played=config.agent
    )
    write_atomically(out, json.dumps(content, indent=1).encode())


def _decisions(rows: list[dict[str, Any]], agent: str, street: str) -> dict[str, Any]:
    """CPU seconds of the agent's decisions, the solves included that rate them for an observer."""
    seconds = [each for row in rows for each in row["seconds"][street]]
    return {"agent": agent, "street": street, "n": len(seconds), "median": float(np.median(seconds or [0.0]))}


def _deal(
    rules: Rules, agent: SamplingAgent, planners: dict[str, dict[str, LookAheadResponse]], number: int
) -> dict[str, Any]:
    """Chips that each adversary wins, a mean over its seats, and the lines; 0 where the agent does not come there.
    Their `parts` are by street and action.
    """
    rng = np.random.default_rng([1, number])
    state, lines = HandState.deal(rules, rng), dict[str, str]()
    agent.reset(number)
    row: dict[str, Any] = {street: dict.fromkeys(planners[street], 0.0) for street in planners}
    parts: dict[str, dict[str, dict[str, float]]] = {street: {} for street in planners}
    seconds: dict[str, list[float]] = {street: [] for street in STREET_NAMES}
    while not state.is_over and len(lines) < len(planners):
        begin = time.process_time()
        action = agent.act(state.view(state.to_act))
        seconds[STREET_NAMES[state.street]].append(time.process_time() - begin)
        for street, by_name in planners.items():
            if state.street == STREETS[street] and street not in lines:
                lines[street] = state.betting.text()
                for key, planner in by_name.items():
                    row[street][key], gains = _won(planner, state, number)
                    parts[street][key] = {
                        f"{STREET_NAMES[on]}, {action}": chips for (on, action), chips in gains.items()
                    }
        state = state.apply(action)
    return {"lines": lines, **row, "parts": parts, "seconds": seconds}


def _mbb(rules: Rules, chips: Sequence[float]) -> dict[str, Any]:
    return estimate(1000 / rules.big_blind * np.array(chips)).record()


def _won(planner: LookAheadResponse, state: HandState, number: int) -> tuple[float, GainsByAction]:
    """Chips that the plan wins from the start of the street on, and their parts."""
    rules, board = state.rules, state.rules.ordered_board(state.board)
    boards: list[Board] = []
    if len(board) < rules.total_board_cards:
        deck = [card for card in range(rules.deck_size) if card not in board]
        rivers = np.random.default_rng([2, number]).choice(deck, RIVERS, replace=False)
        boards = [(*board, card) for card in rivers.tolist()]
    return planner.winnings(state.betting, board, boards)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.look_ahead")
    parser.add_argument("agent")
    parser.add_argument("deals", type=int)
    parser.add_argument("output", type=Path)
    parser.add_argument("--from", dest="plans_from", action="append", choices=STREETS, help="streets; both by default")
    parser.add_argument("settings", nargs="*", metavar="key=value")
    given = parser.parse_args()
    main(given.agent, given.deals, given.output, given.plans_from or list(STREETS), given.settings)
