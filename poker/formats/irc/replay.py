"""The betting sequence of an IRC hand from its per-player strings, played by the rules and checked.

Blinds (`B`) come first. Then the player to act takes the next letter of their string for the street: `f` fold, `k`
check, `b` bet, `c` call, `r` raise. `A` means that the action before it was all-in. `Q` (quits) and `K` (kicked) end a
string, in turn or out of turn. So if the player to act has no letter left, another player must have left before.

The result must agree with the players and pots that `hdb` gives for every street, and with the chips that each player
put in. If all cards are known, it must also agree with the chips that each player won.

House rules found in the archive: limit 10/10/20/20, with blinds of 5 and 10 or a single blind of 10. Heads-up, the
first position posts the small blind and acts first on every street. With three or more players a street has at most
four bets, with few exceptions (11 hands of April 1995 have a fifth). Heads-up the number is unlimited. We enforce no
cap.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from poker.formats.irc.archive import STREETS, PlayerRow, Problems, RawHand
from poker.game.betting import Betting
from poker.game.cards import parse_cards
from poker.game.rules import CALL, FOLD, LIMIT, UNCAPPED, Rules
from poker.game.state import HandState
from poker.run.errors import PokernetsError

SMALL_BLIND, BIG_BLIND = 5, 10
RAISE_SIZES = (10, 10, 20, 20)

LEAVE = "QK"


class ReplayError(PokernetsError):
    """A hand that contradicts the archive's figures.

    Attributes:
        reason: one of a few reasons, for counting.
    """

    def __init__(self, reason: str, detail: str) -> None:
        """Create the error.

        Args:
            reason: one of a few reasons.
            detail: details of this hand.
        """
        super().__init__(f"{reason}: {detail}")
        self.reason = reason


def replay_all(hands: Iterable[RawHand], problems: Problems) -> Iterator["IrcHand"]:
    """Replay hands.

    Args:
        problems: receives the hands that fail, by reason.

    Yields:
        The replayed hands.
    """
    for raw in hands:
        try:
            yield replay(raw)
        except ReplayError as error:
            problems.add(error.reason, f"hand {raw.stamp}: {error}")
        except PokernetsError as error:
            problems.add("players, chips or cards that cannot be", f"hand {raw.stamp}: {error}")


class Move(NamedTuple):
    """An action of a player.

    Attributes:
        action: FOLD, CALL or a raise-to total.
        left: whether the player left, perhaps out of turn.
    """

    player: int
    action: int
    left: bool


@dataclass(frozen=True, slots=True)
class IrcHand:
    """A replayed hand; players are numbered from 0 by position, and unknown cards are empty."""

    stamp: int
    names: tuple[str, ...]
    rules: Rules
    hole_cards: tuple[tuple[int, ...], ...]
    board: tuple[int, ...]
    moves: tuple[Move, ...]

    def states(self) -> Iterator[tuple[HandState, Move]]:
        """Iterate over each move with the state before it."""
        state = HandState.start(self.rules, self.hole_cards, self.board)
        for move in self.moves:
            yield state, move
            state = replace(state, betting=state.betting.apply_by(move.player, move.action))


def replay(raw: RawHand) -> IrcHand:
    """Replay a hand.

    Raises:
        ReplayError: a figure of the archive does not fit.
    """
    rules = _rules(raw.players)
    replayer = _Replayer(raw, rules)
    replayer.play()
    hand = IrcHand(
        stamp=raw.stamp,
        names=tuple(player.name for player in raw.players),
        rules=rules,
        hole_cards=tuple(parse_cards("".join(player.cards)) for player in raw.players),
        board=parse_cards("".join(raw.board)),
        moves=tuple(replayer.moves),
    )
    replayer.check_winnings(HandState.at(replayer.betting, hand.hole_cards, hand.board))
    return hand


def _rules(players: Sequence[PlayerRow]) -> Rules:
    posted = [index for index, player in enumerate(players) if player.streets[0].startswith("B")]
    if posted not in ([0], [0, 1]) or len(players) < 2:
        raise ReplayError("blinds out of place", f"posted at positions {[index + 1 for index in posted]}")
    blinds = (SMALL_BLIND, BIG_BLIND) if len(posted) == 2 else (BIG_BLIND,)
    return Rules(
        name="irc",
        num_players=len(players),
        betting=LIMIT,
        blinds=blinds + (0,) * (len(players) - len(blinds)),
        stacks=tuple(player.bankroll for player in players),
        raise_sizes=RAISE_SIZES,
        max_raises=(UNCAPPED,) * STREETS,
        first_player=(len(posted) % len(players), 0, 0, 0),
        num_suits=4,
        num_ranks=13,
        num_hole_cards=2,
        board_cards=(0, 3, 1, 1),
    )


class _Replayer:
    """A hand being replayed: the betting state, and the unused letters of each player and street."""

    def __init__(self, raw: RawHand, rules: Rules) -> None:
        self.moves: list[Move] = []
        self._raw = raw
        self.betting = Betting.start(rules)
        self._uncalled = [0] * rules.num_players
        self._letters = [[list(street.replace("A", "")) for street in player.streets] for player in raw.players]
        for letters in self._letters:
            if letters[0][:1] == ["B"]:
                del letters[0][0]

    def play(self) -> None:
        """Use up all letters, and check all figures of the files."""
        seen: list[tuple[int, int] | None] = [None] * STREETS
        while not self.betting.is_over:
            street = self.betting.street
            self._step()
            if not self.betting.is_over and self.betting.street > street:
                self._leave_after(street)
                seen[street] = self._count()
        self._check_counts(seen)
        self._check_chips()

    def check_winnings(self, state: HandState) -> None:
        """Compare the winnings at the end with the archive; odd chips may go to other winners."""
        won = [player.won for player in self._raw.players]
        alive = [player for player, out in enumerate(state.betting.folded) if not out]
        if len(alive) == 1:
            payoffs = [0] * len(won)
            payoffs[alive[0]] = state.betting.pot + self._uncalled[alive[0]]
        elif all(state.hole_cards[player] for player in alive):
            put_in = zip(state.payoffs(), state.betting.committed, self._uncalled, strict=True)
            payoffs = [net + chips + more for net, chips, more in put_in]
        else:
            return
        if any(abs(a - b) >= len(alive) for a, b in zip(payoffs, won, strict=True)):
            raise ReplayError("winnings differ", f"{payoffs}, the archive says {won}")

    def _step(self) -> None:
        player, street = self.betting.to_act, self.betting.street
        letters = self._letters[player][street]
        if letters and letters[0] not in LEAVE:
            self._act(player, letters.pop(0))
            return
        gone = [other for other in (player, *range(len(self._letters))) if self._leaving(other, street)]
        if not gone:
            raise ReplayError("no action for the player to act", self._where(player))
        self._leave(gone[0], street)

    def _act(self, player: int, letter: str) -> None:
        betting = self.betting
        legal, action = betting.legal(reopened=True), FOLD
        if letter == "f":
            if not legal.fold:
                self._leave(player, None)
                return
        elif letter in "kc" and (letter == "k") == (betting.to_call == 0):
            action = CALL
        elif letter in "br" and legal.max_raise:
            action = legal.max_raise
        elif letter in "br" and betting.to_call:
            action = CALL  # nobody can call the raise, but the archive's pot includes it
            highest, stack = max(betting.committed), betting.rules.stacks[player]
            self._uncalled[player] = min(highest + RAISE_SIZES[betting.street], stack) - min(highest, stack)
        else:
            raise ReplayError("action does not fit", f"`{letter}` of {self._where(player)}")
        self.moves.append(Move(player, action, False))
        self.betting = betting.apply_by(player, action)

    def _leave(self, player: int, street: int | None) -> None:
        """Let `player` leave; `street` is the street of the letter, or None for a fold that could have been a check."""
        if street is not None:
            self._letters[player][street].clear()
        self.moves.append(Move(player, FOLD, True))
        self.betting = self.betting.leave(player)

    def _leave_after(self, street: int) -> None:
        """Let players leave who left after their last action of a finished street."""
        for player in range(len(self._letters)):
            if not self.betting.is_over and self._leaving(player, street):
                self._leave(player, street)

    def _leaving(self, player: int, street: int) -> bool:
        """Return whether the next letter of a player with a hand is a departure; winners did not leave."""
        betting, letters = self.betting, self._letters[player][street]
        alive = not betting.folded[player] and betting.committed[player] < betting.rules.stacks[player]
        return alive and bool(letters) and letters[0] in LEAVE and self._raw.players[player].won == 0

    def _where(self, player: int) -> str:
        return f"player {player + 1} after `{self.betting.text()}`"

    def _count(self) -> tuple[int, int]:
        """Return the current number of players and the pot."""
        return self.betting.folded.count(False), self.betting.pot + sum(self._uncalled)

    def _check_counts(self, seen: list[tuple[int, int] | None]) -> None:
        """Compare with `hdb`, which may or may not count streets without betting and players who leave afterwards."""
        players, pot = self._count()
        gone = sum(
            not self.betting.folded[player] and any(letter in LEAVE for street in letters for letter in street)
            for player, letters in enumerate(self._letters)
        )
        ends = {(players, pot), (players - gone, pot)}
        for street, wanted in enumerate(self._raw.counts):
            count = seen[street]
            possible = ends if street == STREETS - 1 else {count} if count else {(0, 0), *ends}
            if wanted not in possible:
                raise ReplayError("players or pot differ", f"after street {street + 1}: {wanted}, not {possible}")

    def _check_chips(self) -> None:
        committed = [chips + more for chips, more in zip(self.betting.committed, self._uncalled, strict=True)]
        for player, chips in zip(self._raw.players, committed, strict=True):
            if player.chips_in != chips:
                raise ReplayError("chips in differ", f"{player.name}: {chips}, the archive says {player.chips_in}")
        left = [letter for player in self._letters for street in player for letter in street if letter not in LEAVE]
        if left:
            raise ReplayError("actions left over", "".join(left))
