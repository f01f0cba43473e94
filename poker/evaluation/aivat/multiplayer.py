"""AIVAT for any number of players: corrections for the deal, the public cards and the actions of known policies.

Unlike `poker.evaluation.aivat.heads_up`, all hands count as seen, and there is no average over ranges. The estimate
starts from the chips won. For each event with a known distribution, it adds the mean of u over the possible outcomes
and subtracts u of the actual outcome. It is unbiased for every u with exact means `before_board` and `before_deal`.

Symbols: P players, N completions of a board.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import awaits_cards
from poker.agents.base import hand_number, policy_mismatch
from poker.game.betting import Betting
from poker.game.rules import Rules
from poker.game.state import HandState, PolicyFunction, public_state, showdown_ranks
from poker.kernels.cards.runouts import runout_ranks
from poker.kernels.types import Board, Floats

HoleCards = tuple[Board, ...]

_MOST = 5000


class CheckDownHands:
    """A value function: chips [P] over the whole hand if everybody left calls and nobody bets again.

    Payoffs are averaged over every completion of the board, so the mean over the next cards is the current value. If
    there are more than 5,000 completions, as before the flop, a random sample of 5,000 is used. It does not depend on
    the cards to come, so estimates stay unbiased.
    """

    def values(self, betting: Betting, board: Board, hands: HoleCards) -> Floats:
        """Evaluate a state in which a player is to act, or all cards of a showdown are known.

        Args:
            board: [0..5] cards on the board.
            hands: [P] hole cards.

        Returns:
            [P] net chips.
        """
        return _mean_payoffs(_called(betting), partial(_shares, betting.rules, board, hands))

    def before_board(self, betting: Betting, board: Board, hands: HoleCards) -> Floats:
        """Return the mean of u over the cards that come before the next action or the showdown.

        Args:
            board: [0..5] cards on the board.
            hands: [P] hole cards.

        Returns:
            [P] net chips.
        """
        return self.values(betting, board, hands)

    def before_deal(self, betting: Betting) -> Floats:
        """Return the mean of u over all deals, in which all players of a pot are equally likely to win it.

        Returns:
            [P] net chips.
        """
        return _mean_payoffs(_called(betting), lambda players: np.full(len(players), 1 / len(players)))


@dataclass(frozen=True)
class MultiAivat:
    """Estimates for hands with any number of players.

    Attributes:
        values: the value function.
    """

    rules: Rules
    values: CheckDownHands

    def estimate(self, final: HandState, policies: Sequence[PolicyFunction | None]) -> Floats:
        """Estimate the chips won by each player.

        Args:
            final: state at the end, with all cards.
            policies: policies by seat; None for unknown ones.

        Returns:
            [P] chips.

        Raises:
            PolicyMismatchError: a policy never takes the action that was played.
        """
        hands, board = final.hole_cards, final.runout[: self.rules.board_sizes[0]]
        betting = Betting.start(self.rules)
        estimate = np.array(final.payoffs(), dtype=np.float64)
        estimate += self.values.before_deal(betting) - self._after(betting, board, hands)
        for action in final.betting.line:
            policy = policies[betting.to_act]
            if policy is not None:
                estimate += self._action_correction(betting, board, hands, action, policy)
            betting = betting.apply(action)
            if awaits_cards(betting, board):
                before = self.values.before_board(betting, board, hands)
                board = final.runout[: self.rules.board_sizes[betting.street]]
                estimate += before - self.values.values(betting, board, hands)
        return estimate

    def _action_correction(
        self, betting: Betting, board: Board, hands: HoleCards, action: int, policy: PolicyFunction
    ) -> Floats:
        player = betting.to_act
        actions, probs = policy(public_state(betting, board))
        shares = probs[hand_number(HandState(betting, hands, board), player)].astype(np.float64)
        if action not in actions or not shares[actions.index(action)] > 0.0:
            raise policy_mismatch(betting, action)
        after = np.array([self._after(betting.apply(option), board, hands) for option in actions])
        correction: Floats = shares @ after / shares.sum() - after[actions.index(action)]
        return correction

    def _after(self, betting: Betting, board: Board, hands: HoleCards) -> Floats:
        if awaits_cards(betting, board):
            return self.values.before_board(betting, board, hands)
        if betting.is_over:
            return np.array(HandState(betting, hands, board).payoffs(), dtype=np.float64)
        return self.values.values(betting, board, hands)


def _called(betting: Betting) -> Betting:
    """Return the state after everybody left has called the highest bet, as far as the stacks allow."""
    totals = zip(betting.folded, betting.committed, betting.rules.stacks, strict=True)
    committed = tuple(chips if out else min(betting.highest, stack) for out, chips, stack in totals)
    return replace(betting, committed=committed)


def _mean_payoffs(betting: Betting, shares: Callable[[tuple[int, ...]], Floats]) -> Floats:
    """Return net chips [P], given a function that returns the mean share of a pot for each of its players."""
    net = -np.array(betting.called, np.float64)
    for pot in public_state(betting, ()).pots():
        net[list(pot.players)] += pot.amount * shares(tuple(pot.players))
    return net


@lru_cache(maxsize=1024)
def _shares(rules: Rules, board: Board, hands: HoleCards, players: tuple[int, ...]) -> Floats:
    contenders = _completion_ranks(rules, board, hands)[:, players]
    wins = contenders == contenders.max(axis=1, keepdims=True)
    shares: Floats = (wins / wins.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


@lru_cache(maxsize=16)
def _completion_ranks(rules: Rules, board: Board, hands: HoleCards) -> NDArray[np.integer]:
    """Return showdown ranks [N, P] on every completion of the board with cards outside all hands."""
    if rules.deck_size == 52 and rules.num_hole_cards == 2 and rules.total_board_cards == 5:
        ranks = runout_ranks(np.array(board, dtype=np.uint8), np.array(hands, dtype=np.uint8))
        rng = np.random.default_rng([*board, *itertools.chain.from_iterable(hands)])
        return ranks if len(ranks) <= _MOST else rng.choice(ranks, _MOST, replace=False)
    taken = {*board, *itertools.chain.from_iterable(hands)}
    deck = [card for card in range(rules.deck_size) if card not in taken]
    missing = rules.total_board_cards - len(board)
    boards = [(*board, *cards) for cards in itertools.combinations(deck, missing)]
    return np.array([showdown_ranks(rules, hands, complete) for complete in boards])
