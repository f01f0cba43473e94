"""Exploits a model of the opponent during the solve, with a bound on the risk (docs/exploiting.md).

A share s of each hand in the opponent's range plays by the model m, weighted by the confidence c in it; the rest plays
by the solutions, y. c is the model's own confidence times the trust that it has earned (`poker.search.trust`).
With probability e the opponent takes one of the A actions at random. After an action a

    range  *  (1 - e) (s c m(a) + (1 - s c) y(a)) + e / A
    share  s c m(a) (1 - e) / the factor on the range, at most p

So both are functions of the public state, as ranges are, and a solve is a restricted Nash response to the range and its
modelled part. At a depth limit the modelled part plays the mixture of continuations nearest to the model
(`poker.solve.mixture`), or is free.

At the root of a solve the opponent's reach R splits into M = p * R, which follows the model m, and a free part. The
searcher cannot distinguish them and plays one strategy x against their sum. At each decision I of the opponent

    M(I a) = M(I) c(I) m(I, a)                                     reach that still follows the model
    R(I a) = M(I a) + (R(I) - sum over b of M(I b)) y(I, a)        total reach, with y the free part's strategy

M does not depend on the solution and is computed once. A sweep for the searcher needs only R. Counterfactual values of
the opponent's hands do not depend on how they reached a decision, so the free part learns as in any solve.

- c = 1 is the restricted Nash response (Johanson, Zinkevich, Bowling 2007): x maximises p u(x, m) + (1 - p) min u(x,
  y). Over p the solutions trace the best profit from m at each exploitability, from an equilibrium at p = 0 to a best
  response to m at p = 1.
- c(I) < 1, from the number of observations at I, makes the response data-biased (Johanson, Bowling 2009). In their
  version an opponent who was free at one decision follows the model at the next with the confidence there; here the
  opponent stays free for the rest of the hand. Our set of opponents includes all of theirs, so our response is the more
  cautious. The free part has one strategy, learned as usual, and p keeps its meaning: with c -> 1 this is the
  restricted Nash response, while theirs with c -> p is not. The two differ only where an unknown decision comes before
  a known one. That is rare, since a player observed at a decision has been observed at those before it.

Whatever c is, the worst-case loss of x relative to the value of the game is at most p / (1 - p) times its profit from m
above that value. The reason is that y may play as m does wherever it left the model, so (1 - p) min u(x, y) + p u(x, m)
is at least the value that an equilibrium strategy guarantees.

Symbols: H hands, A actions, K continuations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from poker.game.betting import Betting
from poker.game.rules import FOLD, Rules
from poker.kernels.types import Board, Reals, Singles
from poker.opponents.model import OpponentModel
from poker.run.errors import PokernetsError
from poker.solve.mixture import ContinuationMixture
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import Rows, played
from poker.tree import Kind


@dataclass(frozen=True)
class Explained:
    """An action of the opponent and its probability by hand.

    Attributes:
        model: [H] probability of the action under the model.
        solution: [H] probability of the action under the solution.
        weights: [H] range before the action.
        fold: whether the action is a fold.
    """

    model: Reals
    solution: Reals
    weights: Reals
    fold: bool = False

    def chances(self, hand: int | None) -> tuple[float, float]:
        """Return the probabilities of the action under the model and under the solution.

        Args:
            hand: the hand that was shown; None averages over the range.
        """
        if hand is not None:
            return float(self.model[hand]), float(self.solution[hand])
        return float(self.weights @ self.model), float(self.weights @ self.solution)


@dataclass(frozen=True)
class Modelled:
    """The part of the opponent's range at a public state that plays by a model.

    Attributes:
        exploit: the settings and the model.
        share: [H] share of each hand's weight that plays by the model.
        explained: the opponent's actions on the way to the state.
    """

    exploit: "Exploit"
    share: Reals
    explained: tuple[Explained, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether any hand plays by the model and the model is trusted at all."""
        return (not self.exploit.by_confidence or self.exploit.trust > 0) and bool(self.share.any())

    def after(
        self,
        betting: Betting,
        board: Board,
        actions: tuple[int, ...],
        action: int,
        free: Reals,
        noise: float,
        weights: Reals,
    ) -> tuple[Singles, "Modelled"]:
        """Apply an action of the opponent.

        Args:
            betting: betting before the action.
            actions: the A legal actions of the solution.
            action: the action taken.
            free: [H] probability of `action` in the free part.
            noise: probability with which the opponent acts at random.
            weights: [H] the opponent's whole range.

        Returns:
            [H] probability of `action` in the whole range, and the modelled part after it.
        """
        (probs,), confidence = self.exploit.probs(betting, [board], actions, (self.share * weights)[None])
        by_model = probs[:, actions.index(action)]
        held = self.share * confidence
        modelled = held * by_model
        taken = modelled + (1 - held) * free
        total = (1 - noise) * taken + noise / len(actions)
        share = np.divide((1 - noise) * modelled, total, out=np.zeros_like(total), where=total > 0)
        explained = *self.explained, Explained(by_model, free, weights, action == FOLD)
        following = replace(self, share=np.minimum(share, self.exploit.p), explained=explained)
        return taken.astype(np.float32), following

    def reach(self, game: VectorGame, root: Betting, player: int) -> Rows:
        """Compute the reach of the modelled part in a game, as `VectorSolver.restrict` needs it.

        Args:
            root: betting at its root.
            player: the modelled player.

        Returns:
            [entries] reach of each hand and action.
        """
        tree = game.tree
        betting = lru_cache(maxsize=None)(lambda node: tree.betting(node, root))
        chosen = lru_cache(maxsize=None)(lambda street, count: self.exploit.chosen(tree.rules, street, count))

        def taken(node: int, boards: Sequence[int], reach: Rows) -> Reals:
            if tree.kind[node] == Kind.GADGET:  # the alternative, or to enter
                return np.stack([np.zeros_like(reach), reach], axis=2)
            if tree.kind[node] == Kind.CHOICE:
                return reach[:, :, None] * chosen(int(tree.street[node]), int(tree.num_children[node]))
            cards = [game.boards.cards[board] for board in boards]
            probs, confidence = self.exploit.probs(betting(node), cards, tree.actions(node), reach)
            return np.asarray(confidence * probs * reach[:, :, None])

        return played(game, player, taken, (self.share * game.ranges[player]).astype(np.float32))


@dataclass(frozen=True)
class Exploit:
    """Settings of the search against a model.

    Attributes:
        p: share of the opponent's hands that play by the model from the start of a hand; 0 searches without a model.
        by_confidence: whether p is scaled by the model's confidence and `trust`; otherwise the model counts as certain.
        continuations: mixes the continuations at depth limits. If it is None, or the number of continuations differs,
            the modelled part is free beyond the limit.
        trust: the trust that the model has earned, from 0 to 1.
    """

    p: float = 0.0
    model: OpponentModel | None = None
    by_confidence: bool = True
    continuations: ContinuationMixture | None = None
    trust: float = 1.0

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            PokernetsError: p is not between 0 and 1, or the model is missing.
        """
        if not 0 <= self.p <= 1:
            raise PokernetsError(f"search.exploit.p must be between 0 and 1, not {self.p}")
        if self.p > 0 and self.model is None:
            raise PokernetsError("search.exploit.p needs a model of the opponent: search.exploit.model")

    def start(self, rules: Rules) -> Modelled | None:
        """Return the modelled part before the first action; None for a search without a model."""
        if self.p == 0 or self.model is None:
            return None
        return Modelled(self, np.full(rules.num_hands, self.p))

    def probs(
        self, betting: Betting, boards: Sequence[Board], actions: tuple[int, ...], weights: Reals
    ) -> tuple[Reals, float]:
        """Query the model at a decision.

        Args:
            betting: betting before the decision.
            boards: [N] boards.
            actions: the A actions.
            weights: [N, H] range of the player who acts.

        Returns:
            [N, H, A] probabilities of the model, and its confidence scaled by the trust.
        """
        assert self.model is not None
        probs, confidence = self.model.probs(betting, boards, actions, weights)
        return probs, self._counting(confidence)

    def chosen(self, rules: Rules, street: int, count: int) -> Reals:
        """Return how the modelled part chooses among continuations.

        Args:
            street: street at whose end the choice is made.
            count: number of continuations K.

        Returns:
            [K] share of the modelled part that plays each continuation; the rest is free.
        """
        if self.model is None or self.continuations is None or len(self.continuations.frequencies) != count:
            return np.zeros(count)
        later, confidence = self.model.later(rules, street)
        return self._counting(confidence) * self.continuations.shares(later, street)

    def _counting(self, confidence: float) -> float:
        """Return the confidence scaled by the earned trust, or 1 if the model counts as certain."""
        return confidence * self.trust if self.by_confidence else 1.0
