"""An agent as an object: its strategy, its actions, and its reviews of hands."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from poker.agents.base import Agent, OpponentRead, require_policy
from poker.formats.played import PlayedHand
from poker.game.betting import Betting
from poker.game.cards import hand_text
from poker.game.rules import FOLD, Rules
from poker.game.state import DealError, HandState
from poker.kernels.types import Columns
from poker.run.errors import PokernetsError
from poker.studio.hands.hand_file import FileReviews, in_chips_of


class LoadedAgent:
    """An agent that is ready to play a game.

    Chips are integers. An action is -1 to fold, 0 to check or call, and for a bet or raise the total that the player
    has committed to the hand after it.

    Args:
        agent: the agent (`poker.agents.base`).
        seed: seed with which the agent is reset.
    """

    def __init__(self, agent: Agent, game: Rules, seed: int = 1) -> None:
        """Reset the agent."""
        self.agent, self.game = agent, game
        self._last: HandState | None = None
        agent.reset(seed)

    @property
    def solves(self) -> bool:
        """Whether the agent can `review`."""
        return self.agent.solves

    def state(self, betting: str = "", board: str = "", hand: str = "") -> HandState:
        """Return a state of the game.

        Args:
            betting: actions so far in the letters of ACPC logs, such as `cr300c/cc`.
            board: cards of the board, such as `Ks9d4c`.
            hand: cards of the player to act.

        Raises:
            IllegalAction: an action is illegal.
            DealError: the cards are invalid.
        """
        after, cards = Betting.parse(self.game, betting), self.game.parse_cards(board)
        if len(cards) not in self.game.board_sizes:
            raise DealError(f"the board has {' or '.join(map(str, self.game.board_sizes))} cards, not {len(cards)}")
        players = range(self.game.num_players)
        hole_cards = [self.game.parse_cards(hand) if player == after.to_act else () for player in players]
        return HandState.at(after, hole_cards, cards)

    def strategy(self, state: HandState) -> Columns:
        """Return the strategy of the player to act, as a table with a row for each possible hand.

        Returns:
            columns `hand`, `weight`, and the probability of each action. `weight` is how likely the agent would have
            acted as the player did so far, relative to the likeliest hand. Agents that solve have NaN for unexpected
            hands, which are less than 1e-4 as likely as the likeliest or left out of the solve. The player's own hand
            in `state` is always solved.

        Raises:
            PokernetsError: the agent has no policy for all hands.
            DealError: the board does not fit the round.
        """
        _check_board(state)
        policy = require_policy(self.agent, "strategy").ranged_policy(state)
        live = np.flatnonzero(self.game.space.live(state.board))
        hands = np.array([self._hand(index) for index in live.tolist()])
        names = [action_name(state, action) for action in policy.actions]
        by_action = dict(zip(names, policy.probs[live].T, strict=True))
        return {"hand": hands, "weight": policy.weights[live], **by_action}

    def act(self, state: HandState) -> int:
        """Return the agent's action for the player to act, who must have cards.

        A state that does not follow from the state of the last call begins another hand.

        Raises:
            DealError: the board does not fit the round.
        """
        _check_board(state)
        last, self._last = self._last, state
        if last is None or not _follows(state, last):
            self.agent.start_hand(state.to_act)
        return self.agent.act(state.view(state.to_act))

    def learn(self, hand: HandState, opponent: int) -> None:
        """Show a finished hand to an agent that learns.

        Args:
            opponent: the player from whom the agent learns; it sees the hand from the other player's seat.

        Raises:
            PokernetsError: the agent does not learn.
        """
        if not self.agent.learns:
            raise PokernetsError(f"`{self.agent.name}` does not learn; choose depth_limited_exploit")
        self._last = None
        self.agent.start_hand(1 - opponent)
        self.agent.end_hand(hand.view(1 - opponent))

    def read(self, states: Sequence[HandState]) -> OpponentRead:
        """Return what a learning agent expects of its opponent.

        Args:
            states: n states at which the opponent acts.

        Returns:
            `trust`, from 0 to 1, with which the agent uses its model, and `expected` [n, 3], the probabilities of
            folding, of checking or calling, and of betting or raising.

        Raises:
            PokernetsError: the agent does not learn.
        """
        if not self.agent.reads:
            raise PokernetsError(f"`{self.agent.name}` does not learn; choose depth_limited_exploit")
        return self.agent.read(states)

    def review(self, hand: PlayedHand, player: str) -> Columns:
        """Review a player's decisions in a hand, as a table with a row for each action at each decision.

        Args:
            player: the player's name.

        Returns:
            columns `betting` before the decision, `action`, whether it was `taken`, the `frequency` with which sound
            play takes it with the player's cards, and in big blinds its `ev` (0 for a fold), its `loss` against the
            best action, and the `error` of the loss. `weight` is how likely sound play reaches the decision with the
            player's cards, relative to the likeliest hand. `likelihood` is the likelihood of the opponent's least
            likely action so far; below .02 the opponent's range is a guess, and the error covers other ranges.

        Raises:
            PokernetsError: the agent does not solve, or the hand cannot be reviewed.
        """
        reviews, state, seat = self._to_review(hand, player)
        unit, rows = self.game.big_blind, list[dict[str, Any]]()
        for view, taken in reviews.reviewed(state, seat):
            decision = reviews.decision(view, taken)
            rows += [
                {
                    "betting": view.betting.text(),
                    "action": action_name(view, action),
                    "taken": action == taken,
                    "frequency": frequency,
                    "ev": ev / unit,
                    "loss": (decision.evs.max() - ev) / unit,
                    "error": decision.error / unit,
                    "weight": decision.weight,
                    "likelihood": min(decision.likelihoods, default=1.0),
                }
                for action, frequency, ev in zip(decision.actions, decision.frequencies, decision.evs, strict=True)
            ]
        if not rows:
            refused = (why for _, why in reviews.refused(state, seat))
            raise PokernetsError(next(refused, f"`{player}` had no decision in this hand"))
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def not_reviewed(self, hand: PlayedHand, player: str) -> dict[str, str]:
        """Return why decisions of a player are not in the result of `review`, by the betting before them.

        Raises:
            PokernetsError: the agent does not solve, or the hand cannot be reviewed.
        """
        reviews, state, seat = self._to_review(hand, player)
        return {view.betting.text(): why for view, why in reviews.refused(state, seat)}

    def _to_review(self, hand: PlayedHand, player: str) -> tuple[FileReviews, HandState, int]:
        """Return reviews by the agent, the hand in chips of its game, and the seat of `player`."""
        if not self.agent.solves:
            raise PokernetsError(f"`{self.agent.name}` cannot review; choose an agent that solves: depth_limited")
        return FileReviews(self.game, self.agent), *in_chips_of(self.game, hand, player)

    def _hand(self, index: int) -> str:
        return hand_text(index) if self.game.num_hole_cards == 2 else self.game.cards_text((index,))


def _check_board(state: HandState) -> None:
    """Check that the board has the cards of the round, since `runout` may have more or fewer."""
    dealt = state.rules.board_sizes[state.street]
    if len(state.board) != dealt:
        raise DealError(f"after `{state.betting.text()}` the board has {dealt} cards, not {len(state.board)}")


def _follows(state: HandState, last: HandState) -> bool:
    """Return whether the same player decides again in the same hand."""
    player, line, before = last.to_act, state.betting.line, last.betting.line
    same = state.to_act == player and state.hole_cards[player] == last.hole_cards[player] and state.rules == last.rules
    return same and len(line) > len(before) and line[: len(before)] == before


def action_name(state: HandState, action: int) -> str:
    """Return `fold`, `check`, `call`, `bet 300` or `raise 300`; numbers are totals of the hand."""
    if action > 0:
        return f"{'raise' if state.betting.to_call else 'bet'} {action}"
    return "fold" if action == FOLD else "call" if state.betting.to_call else "check"
