"""What is won from turns that are more or less solved: `python -m tests.bench.turn_responses SPOT FILE`.

The spot is one of `tests/golden/spots.json` with one bet of three quarters of the pot. Shares of the pot, mean of both
seats, each exact: the best response, by the solver; the local best response that checks down in thought; the one that
looks ahead, with all rivers and as conf/adversaries/look_ahead.yaml has it.
"""

import json
import sys
from pathlib import Path

from poker.agents.local_best_response import LbrActions, LbrStreet, LocalBestResponse
from poker.agents.look_ahead import LookAheadActions, LookAheadResponse
from poker.run.atomic import write_atomically
from poker.tree import bet_menu
from tests.agents.solved_turn import SolvedTurn
from tests.bench.record import record
from tests.solvers.games import SPOTS

ITERATIONS = 0, 10, 30, 300
CARDS, NEGLECT = 12, 0.01


def main() -> None:
    name, out = sys.argv[1:]
    menu, street = bet_menu(turn=[0.75], river=[0.75]), LbrStreet(fold=True, raises=[0.75])
    check_down = LbrActions([street] * 4)
    exact = LookAheadActions([], plans_from=2, menu=menu, ahead=menu)
    sampled = LookAheadActions([], plans_from=2, menu=menu, ahead=menu, cards=CARDS, neglect=NEGLECT)
    rows = []
    for iterations in ITERATIONS:
        agent = SolvedTurn(SPOTS[name]["config"], menu, iterations)
        rows.append(
            {
                "iterations": iterations,
                "best_response": agent.solver.exploitability() / agent.pot,
                "check_down": agent.lost_to(LocalBestResponse, check_down),
                "look_ahead": agent.lost_to(LookAheadResponse, exact),
                "sampled": agent.lost_to(LookAheadResponse, sampled),
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    content = record(played={}, spot=name, cards=CARDS, neglect=NEGLECT, unit="shares of the pot", rows=rows)
    write_atomically(Path(out), json.dumps(content, indent=1).encode())


if __name__ == "__main__":
    main()
