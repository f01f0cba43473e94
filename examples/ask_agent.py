"""Play a hand against the agent that comes with the clone, and ask it what each of your decisions is worth.

    python examples/ask_agent.py [SEED]

You check and call. Each time the agent solves the decision that you face, with what it takes you to hold.
"""

import sys

import numpy as np

import pokernets
from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.game.cards import hand_index
from poker.game.rules import CALL
from poker.game.state import HandState

YOU = 1
"""Heads-up, player 1 is the button."""


def main(seed: int = 1) -> None:
    player = pokernets.load_agent("laptop", search="quick", seed=seed)
    agent, game = player.agent, player.game
    assert isinstance(agent, DepthLimitedAgent)
    hand = HandState.deal(game, np.random.default_rng(seed))
    mine = hand.hole_cards[YOU]
    print(f"you hold {game.cards_text(mine)}, big blind {game.big_blind}")
    while not hand.is_over:
        board = game.cards_text(hand.board) or "preflop"
        if hand.to_act == YOU:
            solved = agent.opponents_decision(hand.view(YOU))
            values = solved.values[hand_index(*mine)]
            worth = ", ".join(
                f"{hand.betting.action_text(action)} {value / game.big_blind:+.2f} bb"
                for action, value in zip(solved.actions, values, strict=True)
            )
            print(f"{board}: worth to you {worth}; you call")
            hand = hand.apply(CALL)
        else:
            action = player.act(hand)
            print(f"{board}: the agent plays {hand.betting.action_text(action)}")
            hand = hand.apply(action)
    print(f"the agent held {game.cards_text(hand.hole_cards[1 - YOU])}, board {game.cards_text(hand.board)}")
    print(f"you won {hand.payoffs()[YOU] / game.big_blind:+.1f} big blinds")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
