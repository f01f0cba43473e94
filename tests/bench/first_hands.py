"""How soon a model knows a player: `python -m tests.bench.first_hands SESSIONS FILE` (docs/results/nolimit_predictors).

Log-loss of the next action, over the hands that the player may hold and with the hand held, in the first fifty hands
against `equity`; of habits from nothing and of habits from a net, on the same hands. Players are those of matches.
"""

from typing import Any

import numpy as np

from conf.compose import call, compose
from poker.game.cards import hand_index
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState
from poker.opponents.habits import Habits
from poker.play.hand import play_hand
from poker.report.estimates import estimate
from tests.bench.record import record, run_into_file

PLAYERS = "always_call", "always_raise", "equity", "loose_passive", "tight_weak", "all_in_5"
PARTS = {"hands 1-5": (0, 5), "hands 6-15": (5, 15), "hands 16-50": (15, 50)}
LEARNER = "depth_limited_exploit_net"


def losses(model: Habits, hand: HandState, player: int) -> list[tuple[float, float]]:
    """Of each action of `player` in a hand: without and with the cards held."""
    content, every = [], np.ones((1, hand.rules.num_hands))
    held = hand_index(*hand.hole_cards[player])
    for past, actor, action in hand.betting.turns():
        if actor == player:
            legal = past.legal()
            actions = (*((FOLD,) if legal.fold else ()), CALL, *((legal.max_raise,) if legal.max_raise else ()))
            (probs,), _ = model.probs(past, [hand.runout[: hand.rules.board_sizes[past.street]]], actions, every)
            chances = probs[:, actions.index(action) if action <= 0 else -1]
            live = probs.sum(axis=1) > 0
            content.append((-np.log(max(chances[live].mean(), 1e-6)), -np.log(max(chances[held], 1e-3))))
    return content


def main(sessions: int, settings: list[str]) -> dict[str, Any]:
    agents = f"agents=[{','.join((LEARNER, *PLAYERS))}]"
    config = compose("evaluate", ["evaluate=match", agents, *settings])
    rules: Rules = call(config.game)
    prior = call(config.agent[LEARNER].exploit.model.prior)
    rows = []
    for name in PLAYERS:
        seen: dict[str, list[tuple[list[float], list[float]]]] = {part: [] for part in PARTS}
        for session in range(sessions):
            hero, player = call(config.agent.equity), call(config.agent[name])
            hero.reset(1000 + session)
            player.reset(2000 + session)
            models = [Habits(), Habits(prior=prior)]
            of_hands = []
            for number in range(50):
                seat, rng = number % 2, np.random.default_rng([session, number])
                hand = play_hand([hero, player] if seat else [player, hero], HandState.deal(rules, rng))
                of_hands.append([losses(model, hand, seat) for model in models])
                models = [model.after(hand.view(1 - seat), seat) for model in models]
            for part, (first, last) in PARTS.items():
                each = [np.array([loss for hand in of_hands[first:last] for loss in hand[i]]) for i in range(2)]
                if len(each[0]):
                    seen[part].append((each[0].mean(axis=0).tolist(), each[1].mean(axis=0).tolist()))
        for part, content in seen.items():
            habits, net = np.moveaxis(np.array(content), 1, 0)
            row: dict[str, Any] = {"player": name, "part": part}
            for column, given in enumerate(("action", "action given the hand")):
                less = estimate((net - habits)[:, column].tolist())
                row[given] = {
                    "habits": round(float(habits[:, column].mean()), 4),
                    "net": round(float(net[:, column].mean()), 4),
                    "less": {"mean": round(less.mean, 4), **less.interval(4)},
                }
            rows.append(row)
            print(row, flush=True)
    return record(played=config.agent, sessions=sessions, settings=settings, rows=rows)


if __name__ == "__main__":
    run_into_file("first_hands", "sessions", main)
