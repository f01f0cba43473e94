"""Reviews of no-limit hands from other programs and sites, with any stacks and blinds.

A hand is replayed in the chips of the solving agent's game, with the big blind of the game. Rounds that are solved to
the end of the hand need only the stacks and the ranges that reach them. Heads-up both players have the smaller of the
hand's stacks, as no more chips can be won or lost. Earlier rounds end in leaf values for the stacks of the game, and
are reviewed only if the stacks are nearly the same. At tables of more than two, missing seats act first and fold.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from poker.agents.base import Agent
from poker.formats.played import TEXAS_BOARD, PlayedHand
from poker.game.betting import Betting, IllegalAction
from poker.game.rules import FOLD, UNLIMITED, Rules
from poker.game.state import HandState
from poker.run.errors import PokernetsError
from poker.search.multiplayer.heads_up_rest import SOLVED_TO_THE_END
from poker.search.opponent_decision import SolvedDecision
from poker.studio.hands.review import Reviews

T = TypeVar("T")

NEAR = 0.1
"""Largest difference of a hand's stacks, as a share of the game's stacks, at which the game's leaf values are used."""


class FileReviews(Reviews):
    """Reviews of hands with other stacks than the solver's game.

    Args:
        solver: solves the decisions.
        ring: game and solver of hands of more than two players; None for the others.
    """

    def __init__(self, rules: Rules, solver: Agent, ring: tuple[Rules, Agent] | None = None) -> None:
        """Start with an empty cache."""
        super().__init__(rules, solver)
        self._ring = ring

    def game_of(self, players: int) -> Rules:
        """Return the game in whose chips hands of a number of players are reviewed."""
        return self._ring[0] if self._ring and players > 2 else self._rules

    @property
    def most_players(self) -> int:
        """Number of players up to which hands are reviewed."""
        return self.game_of(3).num_players

    def solver_of(self, state: HandState) -> Agent:
        """Return the solver of the decision at `state`."""
        return self._ring[1] if self._ring and state.rules.num_players > 2 else self._solver

    def refusal(self, state: HandState) -> str:
        """Return the reason why the decision at `state` is not reviewed; empty if it is."""
        stack, usual = min(state.rules.stacks), min(self._rules.stacks)
        if state.rules.num_players > 2:
            return super().refusal(state)
        to_the_end = state.street >= self._rules.num_streets - SOLVED_TO_THE_END
        if self.why_not or to_the_end or abs(stack - usual) <= NEAR * usual:
            return self.why_not
        blinds = f"{stack / self._rules.big_blind:.4g} big blinds"
        return (
            f"The stacks differ: this hand has {blinds}, the agent's game {usual / self._rules.big_blind:.4g}. Before"
            " the turn, solves need leaf values, which were learned at the stacks of the game. Only turns and rivers"
            " are solved to the end of the hand. To review all rounds, train an agent with"
            f" game.stacks=[{stack},{stack}] in every command."
        )

    def _solved(self, solver: Agent, state: HandState, raises: tuple[int, ...], hand: int) -> SolvedDecision:
        return solver.others_decision(state, raises, hand)


def why_not(hand: PlayedHand, game: Rules) -> str:
    """Return the reason why a hand is not reviewed; empty if it is."""
    rules = hand.rules
    if game.is_limit or game.board_cards != TEXAS_BOARD:
        return f"the agent plays `{game.name}`: reviews need an agent for no-limit hold'em"
    if not (rules.num_players == game.num_players == 2 or 2 < rules.num_players <= game.num_players):
        heads_up = "reviews of more than two need the blueprint that the page Six-handed makes"
        return f"{rules.num_players} players: {heads_up if game.num_players == 2 else f'the agent plays `{game.name}`'}"
    if rules.is_limit:
        return "limit betting: only no-limit hands can be reviewed"
    if rules.pot_limit:
        return "pot-limit betting: only no-limit hands can be reviewed"
    if rules.forced:
        return "antes or dead blinds: such hands cannot be reviewed"
    small, big, *others = rules.blinds[::-1] if rules.num_players == 2 else rules.blinds
    if big != rules.big_blind or not 0 < small <= big or any(others):
        return "other blinds: only hands with a small blind and a big blind can be reviewed"
    if max(rules.stacks) >= UNLIMITED:
        return "the file lacks the stacks"
    if not any(hand.state.hole_cards):
        return "the file lacks the cards of both players"
    return ""


def in_chips_of(game: Rules, hand: PlayedHand, player: str) -> tuple[HandState, int]:
    """Return a hand in the chips of a game, and the player's seat; heads-up both players have the smaller stack.

    It ends before a fold out of turn or where checking is free, since no solve includes these.

    Args:
        player: the player whose decisions are reviewed.

    Raises:
        PokernetsError: no decision of `player` can be reviewed.
    """
    if reason := why_not(hand, game):
        raise PokernetsError(reason)
    if player not in hand.names:
        raise PokernetsError(f"`{player}` is not in the hand; its players are {', '.join(hand.names)}")
    if not hand.state.hole_cards[hand.names.index(player)]:
        raise PokernetsError(f"the cards of `{player}` are unknown")
    rules, unit = hand.rules, game.big_blind / hand.rules.big_blind
    least = min(rules.stacks) if rules.num_players == 2 else 0
    absent = game.num_players - rules.num_players

    def seated(values: Sequence[T], empty: T) -> tuple[T, ...]:
        """Return values by the seats of the game."""
        return (*values[:2], *[empty] * absent, *values[2:])

    stacks = [max(1, round((least or chips) * unit)) for chips in rules.stacks]
    blinds = [round(chips * unit) for chips in rules.blinds]
    start = replace(game, blinds=seated(blinds, 0), stacks=seated(stacks, max(stacks)))
    betting = Betting.start(start)
    for _ in range(absent):
        betting = betting.apply(FOLD)
    for actor, action in hand.state.betting.moves():
        legal = betting.legal()
        if actor + absent * (actor > 1) != betting.to_act or (action == FOLD and not legal.fold):
            break
        least_to_most = legal.min_raise, round(action * unit), legal.max_raise
        try:
            betting = betting.apply(sorted(least_to_most)[1] if action > 0 else action)
        except IllegalAction as error:
            raise PokernetsError(
                f"its bets are not legal once a big blind is {game.big_blind} chips: {error}"
            ) from error
    seat = hand.names.index(player)
    return HandState(betting, seated(hand.state.hole_cards, ()), hand.state.runout), seat + absent * (seat > 1)
