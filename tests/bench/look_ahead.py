"""What an adversary that looks ahead wins by turns and rivers: `python -m tests.bench.look_ahead AGENT DEALS FILE`.

The adversary plays as the agent does until its street, so hands that end before that, and what both win there, cancel
over its two seats. What is left of a deal is the value of its plan where the agent comes to its street by itself:
over all hands of both ranges, all actions and, on the turn, rivers drawn apart from those of the plan. That is the mean
of its winnings in play without the luck of cards and actions. FILE.jsonl keeps deals, and the command goes on there.

Settings may follow, such as `adversaries=[look_ahead]`; the other of the two bets what the agent does not know.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from conf.bundles import unbundle
from conf.compose import call, compose
from poker.agents.base import SamplingAgent, SolvingAgent
from poker.agents.look_ahead import LookAheadActions, LookAheadResponse
from poker.game.betting import Betting
from poker.game.rules import Rules
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


def main(name: str, deals: int, out: Path, settings: list[str]) -> None:
    if not any(setting.startswith("adversaries=") for setting in settings):
        settings = [*settings, f"adversaries=[{','.join(ADVERSARIES)}]"]
    config = compose("evaluate", ["evaluate=lbr", f"agents=[{name}]", *settings])
    unbundle(config, writes=False)
    rules: Rules = call(config.game)
    agent: SamplingAgent = call(config.agent[name])
    if isinstance(agent, SolvingAgent):  # its solutions serve all bets that they hold
        agent.solved_values(public_state(Betting.start(rules), ()), 0)
    actions: dict[str, LookAheadActions] = {str(adversary): call(node) for adversary, node in config.adversary.items()}
    planners = {
        street: {
            adversary: LookAheadResponse(
                name=adversary, game=rules, opponent=agent, actions=replace(actions[adversary], plans_from=number)
            )
            for adversary in actions
        }
        for street, number in STREETS.items()
    }
    lines = JsonLines(out.with_suffix(".jsonl"))
    lines.cut_unfinished()
    rows: list[dict[str, Any]] = list(lines.rows())
    for deal in range(len(rows), deals):
        rows.append(_deal(rules, agent, planners, deal))
        lines.append([rows[-1]])
    mbb = 1000 / rules.big_blind
    results = [
        {
            "from": street,
            "adversary": adversary,
            "wins": estimate(np.array([mbb * row[street][adversary] for row in rows])).record(),
        }
        for street in STREETS
        for adversary in actions
    ]
    reached = {street: sum(street in row["lines"] for row in rows) for street in STREETS}
    content = record(
        agent=name, deals=len(rows), reached=reached, rivers=RIVERS, unit="mbb/hand", rows=results, played=config.agent
    )
    write_atomically(out, json.dumps(content, indent=1).encode())


def _deal(
    rules: Rules, agent: SamplingAgent, planners: dict[str, dict[str, LookAheadResponse]], number: int
) -> dict[str, Any]:
    """Chips that each adversary wins, a mean over its seats, and the lines; 0 where the agent does not come there."""
    rng = np.random.default_rng([1, number])
    state, lines = HandState.deal(rules, rng), dict[str, str]()
    agent.reset(number)
    row: dict[str, Any] = {street: dict.fromkeys(planners[street], 0.0) for street in STREETS}
    while not state.is_over:
        for street, place in STREETS.items():
            if state.street == place and street not in lines:
                lines[street] = state.betting.text()
                row[street] = {key: _won(planner, state, number) for key, planner in planners[street].items()}
        state = state.apply(agent.act(state.view(state.to_act)))
    return {"lines": lines, **row}


def _won(planner: LookAheadResponse, state: HandState, number: int) -> float:
    """Chips that the plan wins from the start of the street on."""
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
    parser.add_argument("settings", nargs="*", metavar="key=value")
    given = parser.parse_args()
    main(given.agent, given.deals, given.output, given.settings)
