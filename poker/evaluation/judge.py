"""`evaluate=judge`: decisions after the flop judged with all cards known, and the money won ([POKI] section 7).

An action is worth the chips that its player ends with if everybody left calls, nobody bets again, and the board is
completed at random. A decision is judged by the worth of its action minus the worth of the best action. Folds of others
are not foreseen: a bet that makes them fold counts as if they had called.

If two hands of a deal, in different seatings, separate at a decision of the same seat, two agents took different
actions with the same cards in the same state. This is the first decision in which they differ, and they are not
comparable after it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np

from poker.evaluation.aivat.multiplayer import CheckDownHands, HoleCards
from poker.evaluation.replay import report_folder
from poker.formats.acpc.log import LoggedHand, read_log
from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.kernels.types import Board
from poker.play.hand_store import counted_in
from poker.play.lineup import Rotation
from poker.report import Report, Table
from poker.report.estimates import estimate
from poker.run.errors import PokernetsError
from poker.run.progress import Console

MEASURES = "money", "decisions", "where they first differ"
Sums = defaultdict[str, list[float]]
"""Numbers of each hand or deal, by agent."""


def run(*, game: Rules, log: str, contrasts: Sequence[Sequence[str]], out: str) -> dict[str, Any]:
    """Judge every decision after the first round of a match.

    Args:
        log: log of the match.
        contrasts: pairs of agents to compare.
        out: folder of the reports.

    Returns:
        The record of the report.

    Raises:
        PokernetsError: the game is not a limit game, the log is missing, or a name is unknown.
    """
    path, seatings = Path(log), len(Rotation(game, 0, 1).seatings)
    if not game.is_limit:
        raise PokernetsError(f"evaluate=judge is for limit games, whose raises have one size, not `{game.name}`")
    if not path.is_file():
        raise PokernetsError(f"no log at {path}; matches write their logs to runs/*/ring/<game>/hands")
    match, deals = counted_in(path), defaultdict[int, dict[int, LoggedHand]](dict)
    for hand in read_log(game, path):
        if match is None or hand.number < match.hands:
            deals[hand.number // seatings][hand.number] = hand
    money, judged, partings = Sums(list), Sums(list), Sums(list)
    for deal in deals.values():
        _judge(list(deal.values()), money, judged, partings)
    if unknown := [name for pair in contrasts for name in pair if name not in money]:
        raise PokernetsError(f"`contrasts`: unknown `{unknown[0]}`; {path} has {', '.join(sorted(money))}")
    estimates = {name: [estimate(money[name]), estimate(judged[name]), None] for name in money}
    for one, other in contrasts:
        pair = f"{one} less {other}"
        less = [estimate(np.subtract(sums[one], sums[other])) for sums in (money, judged)]
        estimates[pair] = [*less, estimate(partings[pair])]
    title = f"{path.name}: decisions of {len(deals):,} deals, judged with all cards known"
    note = "sb/hand, value of the decision less that of the best action; where two agents first differ in a deal, sb"
    table = Table(("agent", *MEASURES), [(name, *each) for name, each in estimates.items()], note=note)
    rows = {
        name: {measure: value.record() for measure, value in zip(MEASURES, each, strict=True) if value is not None}
        for name, each in estimates.items()
    }
    record = {"log": path.name, "deals": len(deals), "unit": f"{note}; intervals over deals", "agents": rows}
    return Report(title, [table], record).write(report_folder(Path(out), path), Console())


def _judge(hands: Sequence[LoggedHand], money: Sums, judged: Sums, partings: Sums) -> None:
    """Add the results of a deal, in small bets.

    Args:
        hands: hands of the deal.
        money: receives the winnings of each agent.
        judged: receives the losses by decisions of each agent.
        partings: receives the differences between agents where they first differ.
    """
    unit = hands[0].state.rules.raise_sizes[0]
    won, lost, better = Sums(list), Sums(list), Sums(list)
    values: dict[tuple[int, ...], Mapping[int, float]] = {}
    taken: dict[tuple[int, ...], dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for hand in hands:
        names, line = [name.partition("#")[0] for name in hand.names], tuple(hand.state.betting.line)
        losses = np.zeros(len(names))
        for number, (past, player, action) in enumerate(hand.state.betting.turns()):
            before = line[:number]
            if past.street and before not in values:
                board = hand.state.runout[: past.rules.board_sizes[past.street]]
                values[before] = action_values(past, board, hand.state.hole_cards)
            if past.street:
                losses[player] += values[before][action] - max(values[before].values())
            taken[before][action].append(names[player])
        for name, chips, loss in zip(names, hand.payoffs, losses, strict=True):
            won[name].append(chips / unit)
            lost[name].append(loss / unit)
    for before in values:
        for one, other in permutations(taken[before], 2):
            for first, second in product(taken[before][one], taken[before][other]):
                better[f"{first} less {second}"].append((values[before][one] - values[before][other]) / unit)
    for of_deal, of_all in ((won, money), (lost, judged), (better, partings)):
        for name, numbers in of_deal.items():
            of_all[name].append(float(np.mean(numbers)))


def action_values(betting: Betting, board: Board, hands: HoleCards) -> dict[int, float]:
    """Compute the worth of each action with all cards known.

    Args:
        board: [0..5] cards on the board.
        hands: [P] hole cards.

    Returns:
        Chips of the player to act over the whole hand, by action.
    """
    legal = betting.legal()
    actions = [CALL, *[FOLD] * legal.fold, *[legal.max_raise] * (legal.max_raise > 0)]
    check_down = CheckDownHands()
    return {a: float(check_down.values(betting.apply(a), board, hands)[betting.to_act]) for a in actions}
