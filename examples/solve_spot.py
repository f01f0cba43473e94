"""Solve a turn spot to 0.3% of the pot and ask the solution what a hand does.

python examples/solve_spot.py
"""

from poker.solvers.vector.solver import VectorSolver
from poker.spots.spots import Spot
from poker.spots.walk import Walk

SPOT = Spot(
    {
        "board": "Qs Jh 2h 8d".replace(" ", ""),
        "oop_range": "AA-88,AKs-A9s,KQs-KTs,QJs,QTs,JTs,T9s,AKo-AJo,KQo",
        "ip_range": "JJ-22,AQs-A2s,KQs-K9s,QJs-Q9s,JTs,J9s,T9s,T8s,98s,AQo,AJo,KQo,KJo,QJo",
        "pot": 60,
        "stack": 270,
        "bet": "50%,100%,a",
        "raise": "60%,a",
    }
)


def main() -> None:
    solver = VectorSolver(SPOT.game(), "apdcfr", threads=2)
    done = solver.run(iterations=1000, exploitability=0.003)
    print(f"{done.iterations} iterations, {done.seconds:.1f} s, exploitability {done.exploitability:.2f} chips")
    print(
        f"EV out of position {solver.game_value(0):.2f}, in position {solver.game_value(1):.2f}, of a pot of {SPOT.pot}"
    )
    walk = Walk(SPOT, solver)
    for words in ("", "check", "bet60"):
        view = walk.view(words.split())
        shares = ", ".join(f"{action} {numbers['frequency']:.0%}" for action, numbers in view.totals.items())
        print(f"{'in position' if view.player else 'out of position'} after `{words or 'the turn'}`: {shares}")


if __name__ == "__main__":
    main()
