"""Reviews of heads-up no-limit hands from other programs and sites, with any stacks and blinds.

A hand is replayed in the chips of the solving agent's game: with the big blind of the game, and with the smaller of the
hand's stacks. No more chips can be won or lost. Rounds that are solved to the end of the hand need only these stacks
and the ranges that reach them. Earlier rounds end in leaf values for the stacks of the game, and are reviewed
only if the stacks are nearly the same.
"""

from dataclasses import replace

from poker.formats.played import TEXAS_BOARD, PlayedHand
from poker.game.betting import Betting, IllegalAction
from poker.game.rules import FOLD, UNLIMITED, Rules
from poker.game.state import HandState
from poker.run.errors import PokernetsError
from poker.search.multiplayer.heads_up_rest import SOLVED_TO_THE_END
from poker.search.opponent_decision import DecisionSolver, SolvedDecision
from poker.studio.hands.review import Reviews

NEAR = 0.1
"""Largest difference of a hand's stacks, as a share of the game's stacks, at which the game's leaf values are used."""


class FileReviews(Reviews):
    """Reviews of hands with other stacks than the solver's game, which is `rules`."""

    @property
    def why_not(self) -> str:
        """The reason why no hand is reviewed; empty if some are."""
        heads_up = self._rules.num_players == 2
        return super().why_not if heads_up else f"hands are reviewed of heads-up games, not of `{self._rules.name}`"

    def refusal(self, state: HandState) -> str:
        """Return the reason why the decision at `state` is not reviewed; empty if it is."""
        stack, usual = min(state.rules.stacks), min(self._rules.stacks)
        if (
            self.why_not
            or state.street >= self._rules.num_streets - SOLVED_TO_THE_END
            or abs(stack - usual) <= NEAR * usual
        ):
            return self.why_not
        blinds = f"{stack / self._rules.big_blind:.4g} big blinds"
        return (
            f"The stacks differ: this hand has {blinds}, the agent's game {usual / self._rules.big_blind:.4g}. Before"
            " the turn a solve ends in values learned at the stacks of the game, which say little at others; turn and"
            " river are solved to the end of the hand. An agent trained at these stacks, with"
            f" game.stacks=[{stack},{stack}] at every command, reviews all rounds."
        )

    def _solved(self, solver: DecisionSolver, state: HandState, raises: tuple[int, ...], hand: int) -> SolvedDecision:
        return solver.others_decision(state, raises, hand)


def why_not(hand: PlayedHand, game: Rules) -> str:
    """Return the reason why a hand is not reviewed; empty if it is."""
    rules = hand.rules
    if game.num_players != 2 or game.is_limit or game.board_cards != TEXAS_BOARD:
        return f"the agent plays `{game.name}`: reviews are by one of heads-up no-limit hold'em"
    if rules.num_players != 2:
        return f"{rules.num_players} players: reviews are of heads-up hands"
    if rules.is_limit:
        return "limit betting: reviews are of no-limit hands"
    if rules.pot_limit:
        return "pot-limit betting: reviews are of no-limit hands"
    if rules.forced:
        return "antes or dead blinds: reviews are of hands without"
    if rules.blinds[0] != rules.big_blind or not 0 < rules.blinds[1] <= rules.big_blind:
        return "blinds that are not a small one of the button and a big one: reviews are of hands with these"
    if max(rules.stacks) >= UNLIMITED:
        return "the file does not tell the stacks"
    if not any(hand.state.hole_cards):
        return "the file does not have the cards of either player"
    return ""


def in_chips_of(game: Rules, hand: PlayedHand, player: str) -> HandState:
    """Return a heads-up hand in the chips of a game, where both players have the smaller stack.

    It ends before a fold out of turn or where checking is free, since no solve includes these.

    Args:
        game: the game.
        hand: the hand.
        player: the player whose decisions are reviewed.

    Raises:
        PokernetsError: no decision of `player` can be reviewed.
    """
    if reason := why_not(hand, game):
        raise PokernetsError(reason)
    if player not in hand.names:
        raise PokernetsError(f"`{player}` is not in the hand; {', '.join(hand.names)} are")
    if not hand.state.hole_cards[hand.names.index(player)]:
        raise PokernetsError(f"the cards of `{player}` are not known")
    rules, unit = hand.rules, game.big_blind / hand.rules.big_blind
    stack = max(1, round(min(rules.stacks) * unit))
    blinds = tuple(round(chips * unit) for chips in rules.blinds)
    betting = Betting.start(replace(game, blinds=blinds, stacks=(stack, stack)))
    for actor, action in hand.state.betting.moves():
        legal = betting.legal()
        if actor != betting.to_act or (action == FOLD and not legal.fold):
            break
        least_to_most = legal.min_raise, round(action * unit), legal.max_raise
        try:
            betting = betting.apply(sorted(least_to_most)[1] if action > 0 else action)
        except IllegalAction as error:
            raise PokernetsError(
                f"its bets are not legal once a big blind is {game.big_blind} chips: {error}"
            ) from error
    return HandState(betting, hand.state.hole_cards, hand.state.runout)
