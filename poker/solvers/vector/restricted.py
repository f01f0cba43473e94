"""Restricted Nash responses: solving against an opponent of whom a part plays by a model and the rest is free.

The opponent's reach R splits at the root into M = p * R, which follows the model m, and what is free. The searcher
cannot tell the two apart and plays one strategy x against their sum. At each decision I of the opponent

    M(I a) = M(I) c(I) m(I, a)                                     what the model still holds
    R(I a) = M(I a) + (R(I) - sum over b of M(I b)) y(I, a)        all, y being the strategy of the free part

M does not depend on the solution and is made once; R is all that a sweep for the searcher needs to know. Counterfactual
values of the opponent's hands do not depend on how they came to a decision, so the free part learns as in any solve.

- c = 1 is the restricted Nash response (Johanson, Zinkevich, Bowling 2007): x maximises p u(x, m) + (1 - p) min u(x,
  y), so over p the solutions run along the frontier of what can be won from m at what exploitability, from an
  equilibrium at p = 0 to a best response to m at p = 1.
- c(I) < 1, from the number of observations at I, makes it data-biased (Johanson, Bowling 2009). In theirs an opponent
  who was free at one decision follows the model at the next with the confidence there; here the opponent stays free for
  the rest of the hand. All opponents of theirs are among ours, so ours is the more cautious. The free part has one
  strategy, learned as ever, and p keeps its meaning: with c -> 1 this is the restricted Nash response, which theirs
  with c -> p is not. Where it differs, an unknown decision comes before a known one, which is rare: who is seen at a
  decision has been seen at those before it.

Whatever c is, x gives away in the worst case, below the value of the game, at most p / (1 - p) times what it wins from
m above that value: y may do as m does wherever it left the model, so (1 - p) min u(x, y) + p u(x, m) is at least what
an equilibrium strategy is sure of.

Symbols: H hands, A actions.
"""

from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import Rows, Strategy, realization


def modelled_reach(game: VectorGame, player: int, model: Strategy, confidence: Strategy) -> Rows:
    """[entries] M(I a) for p = 1, where `player` follows `model` as far as the confidence goes, from 0 to 1.
    `VectorSolver.restrict` takes p times it. Where boards are merged the model must treat suits alike."""
    return realization(
        game, player, lambda node, board: model(node, board) * confidence(node, board), game.ranges[player]
    )
