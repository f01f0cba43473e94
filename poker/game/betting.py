"""The betting of one hand, without cards: the only implementation of the betting rules.

`Betting` is immutable, and `apply` returns the next state. The rules follow cash games:

- A no-limit raise adds at least the largest raise of the street so far, and at least the big blind, to the highest
  total. A limit raise adds the raise size of the street. The number of limit raises per street is capped.
- A player may always bet or raise all-in, even below the minimum. A short all-in does not reopen the betting: a player
  who has acted on the street and since then faces less than a full raise may only call or fold. A full raise is the
  smallest legal raise, and half of it in limit games. Several short all-ins that together reach a full raise reopen the
  betting (TDA rule 47; Robert's Rules of Poker, no-limit rule 3). Posting a blind does not count as acting. PokerKit
  0.7.7 differs: it considers only the last short all-ins and compares them with the largest raise, not with the big
  blind.
- Nobody may raise when no other player left in the hand has chips beyond the highest total.
- A blind larger than the stack is posted all-in. With more than two players the others still call and raise the whole
  big blind (`Rules.opening`). A player whose blind covers all others has no decision.

Games with two players or with equal stacks play the same under the dealer of the ACPC. `AcpcRules` covers the games in
which that dealer differs.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import NamedTuple

from poker.game.rules import CALL, FOLD, LIMIT, Rules
from poker.run.errors import PokernetsError

NOBODY = -1


class IllegalAction(PokernetsError):  # noqa: N818 (the name says what was done, not what was raised)
    """An action or betting string that the rules do not allow; the message lists the legal actions."""


class Legal(NamedTuple):
    """The legal actions of the player to act, who may always call or check.

    Attributes:
        fold: whether folding is legal.
        call: whether calling or checking is legal; false only when the hand is over.
        min_raise: smallest legal raise-to total in chips; 0 if the player may not raise.
        max_raise: largest legal raise-to total in chips; 0 if the player may not raise.
    """

    fold: bool
    call: bool
    min_raise: int
    max_raise: int

    def allows(self, action: int) -> bool:
        """Return whether `action` (FOLD, CALL or a raise-to total) is legal."""
        if action == FOLD:
            return self.fold
        if action == CALL:
            return self.call
        return action > 0 and self.min_raise <= action <= self.max_raise

    def __str__(self) -> str:
        """Describe the legal actions for an error message."""
        names = ["fold"] * self.fold + ["call"] * self.call
        if self.max_raise:
            same = self.min_raise == self.max_raise
            names.append(f"raise to {self.min_raise}" + ("" if same else f"..{self.max_raise}"))
        return ", ".join(names) if names else "nothing, the hand is over"


@dataclass(frozen=True, slots=True)
class Betting:
    """The public betting state of a hand.

    `actions[street]` and `actors[street]` run in parallel up to the current street. When all players are all-in,
    `street` jumps to the last one. The fields from `waiting` on describe only the current street, and bit i stands for
    player i.

    Attributes:
        street: current street, 0 before the flop.
        committed: [P] chips that each player has put in during the hand, blinds included.
        folded: [P] whether each player has folded.
        to_act: the player to act, or NOBODY.
        actions: actions of each street in order.
        actors: the players who took those actions.
        num_raises: bets and raises on the current street.
        waiting: bit mask of players who still have to act on this street.
        largest_raise: chips added by the largest raise of this street.
    """

    rules: Rules
    street: int
    committed: tuple[int, ...]
    folded: tuple[bool, ...]
    to_act: int
    actions: tuple[tuple[int, ...], ...]
    actors: tuple[tuple[int, ...], ...]
    num_raises: int
    waiting: int
    largest_raise: int

    @classmethod
    def start(cls, rules: Rules) -> "Betting":
        """Return the state after the blinds, before the first action."""
        committed = tuple(map(min, rules.blinds, rules.stacks))
        return cls._open_street(rules, 0, committed, (False,) * rules.num_players, ((),), ((),))

    @classmethod
    def at_street(cls, rules: Rules, street: int, committed: Iterable[int]) -> "Betting":
        """Return the start of a later street, without a record of earlier betting.

        This is the root of a subgame with a given pot.

        Args:
            street: the street that begins.
            committed: [P] chips that each player has put in before it.

        Raises:
            IllegalAction: the street does not exist, or the totals do not fit the stacks or each other.
        """
        totals = tuple(committed)
        if not 0 <= street < rules.num_streets or len(totals) != rules.num_players:
            raise IllegalAction(f"no street {street} with totals {totals} in the game `{rules.name}`")
        if any(not 0 <= total <= stack for total, stack in zip(totals, rules.stacks, strict=True)):
            raise IllegalAction(f"totals {totals} do not fit the stacks {rules.stacks}")
        if street and totals != tuple(min(max(totals), stack) for stack in rules.stacks):
            raise IllegalAction(f"totals {totals}: before street {street} everybody must have matched or be all-in")
        blank: tuple[tuple[int, ...], ...] = ((),) * (street + 1)
        return cls._open_street(rules, street, totals, (False,) * rules.num_players, blank, blank)

    @classmethod
    def _open_street(
        cls,
        rules: Rules,
        street: int,
        committed: tuple[int, ...],
        folded: tuple[bool, ...],
        actions: tuple[tuple[int, ...], ...],
        actors: tuple[tuple[int, ...], ...],
    ) -> "Betting":
        """Return the first decision of `street`, or the end of the hand when fewer than two players can still bet."""
        stacks = rules.stacks
        live_stacks = sorted(stacks[i] for i in range(rules.num_players) if not folded[i])
        if len(live_stacks) == 1:
            return cls(rules, street, committed, folded, NOBODY, actions, actors, 0, 0, 0)
        matchable = live_stacks[-2]
        waiting = 0
        for i in range(rules.num_players):
            if not folded[i] and committed[i] < min(stacks[i], matchable):
                waiting |= 1 << i
        if waiting == 0:
            last = rules.num_streets - 1
            blank: tuple[tuple[int, ...], ...] = ((),) * (last - street)
            return cls(rules, last, committed, folded, NOBODY, actions + blank, actors + blank, 0, 0, 0)
        to_act = _first_from(rules.first_player[street], waiting, rules.num_players)
        return cls(rules, street, committed, folded, to_act, actions, actors, 0, waiting, 0)

    @property
    def is_over(self) -> bool:
        """Whether the hand is over."""
        return self.to_act < 0

    @property
    def is_showdown(self) -> bool:
        """Whether the hand is over with at least two players left in it."""
        return self.to_act < 0 and self.folded.count(False) > 1

    @property
    def pot(self) -> int:
        """Chips committed by all players, including an uncalled bet."""
        return sum(self.committed)

    @property
    def called(self) -> tuple[int, ...]:
        """[P] chips that each player has committed, without an uncalled bet."""
        second_highest = sorted(self.committed)[-2]
        return tuple(min(chips, second_highest) for chips in self.committed)

    @property
    def to_call(self) -> int:
        """Chips that the player to act must add to stay in, at most the rest of the stack; 0 when the hand is over."""
        player = self.to_act
        if player < 0:
            return 0
        return min(self.highest, self.rules.stacks[player]) - self.committed[player]

    @property
    def highest(self) -> int:
        """The total to match in chips; a player whose blind covers all others, who are all-in, need not complete it."""
        highest = max(self.committed)
        opening = self.rules.opening
        if highest >= opening or self.street:
            return highest
        covers = self.committed[self.to_act] == highest and not self._others_beyond(highest)
        return highest if covers else opening

    def legal(self, reopened: bool = False) -> Legal:
        """Return the legal actions of the player to act.

        Args:
            reopened: compute them as if the betting were open to everybody.
        """
        player = self.to_act
        if player < 0:
            return Legal(False, False, 0, 0)
        rules = self.rules
        highest = self.highest
        stack = rules.stacks[player]
        to_call = min(highest, stack) - self.committed[player]
        if stack <= highest or self.num_raises >= rules.max_raises[self.street]:
            return Legal(to_call > 0, True, 0, 0)
        if not (reopened or self._is_open(to_call)) or not self._others_beyond(highest):
            return Legal(to_call > 0, True, 0, 0)
        total = min(stack, highest + self._full_raise)
        return Legal(to_call > 0, True, total, total if rules.betting == LIMIT else stack)

    @property
    def _full_raise(self) -> int:
        """The smallest number of chips by which a full raise exceeds the highest total."""
        rules = self.rules
        if rules.betting == LIMIT:
            return rules.raise_sizes[self.street]
        if rules.any_raise_reopens and self.largest_raise:
            return self.largest_raise
        return max(self.largest_raise, rules.big_blind, 1)

    def _is_open(self, to_call: int) -> bool:
        """Return whether the player to act may raise if the chips allow it."""
        rules = self.rules
        if self.num_raises == 0 or rules.any_raise_reopens or self.to_act not in self.actors[-1]:
            return True
        return to_call * (2 if rules.betting == LIMIT else 1) >= self._full_raise

    def _others_beyond(self, highest: int) -> bool:
        """Return whether another player left has chips beyond `highest` or, under the ACPC rules, any chips."""
        rules, committed = self.rules, self.committed
        for i, stack in enumerate(rules.stacks):
            least = committed[i] if rules.any_raise_reopens else highest
            if stack > least and i != self.to_act and not self.folded[i]:
                return True
        return False

    def apply(self, action: int) -> "Betting":
        """Return the state after the player to act takes an action.

        Args:
            action: FOLD, CALL or a raise-to total.

        Raises:
            IllegalAction: the action is not legal here.
        """
        return self._apply(action, self.legal())

    def _apply(self, action: int, legal: Legal) -> "Betting":
        player = self.to_act
        if not legal.allows(action):
            raise IllegalAction(self._refusal(action, legal))
        rules = self.rules
        street = self.street
        committed = self.committed
        folded = self.folded
        actions = (*self.actions[:-1], (*self.actions[-1], action))
        actors = (*self.actors[:-1], (*self.actors[-1], player))
        num_raises, largest = self.num_raises, self.largest_raise
        waiting = self.waiting & ~(1 << player)
        if action == FOLD:
            folded = (*folded[:player], True, *folded[player + 1 :])
        elif action == CALL:
            total = min(self.highest, rules.stacks[player])
            committed = (*committed[:player], total, *committed[player + 1 :])
        else:
            by = action - self.highest
            largest = max(by, self._full_raise - by if rules.any_raise_reopens else largest)
            committed = (*committed[:player], action, *committed[player + 1 :])
            num_raises += 1
            waiting = 0
            for i, stack in enumerate(rules.stacks):
                if i != player and not folded[i] and committed[i] < stack:
                    waiting |= 1 << i
        to_act = NOBODY
        if folded.count(False) == 1:
            waiting = 0
        elif waiting:
            to_act = _first_from(player + 1, waiting, rules.num_players)
        elif street + 1 < rules.num_streets:
            return Betting._open_street(rules, street + 1, committed, folded, (*actions, ()), (*actors, ()))
        return Betting(rules, street, committed, folded, to_act, actions, actors, num_raises, waiting, largest)

    def leave(self, player: int) -> "Betting":
        """Return the state after `player` gives up the hand at any time.

        At real tables a player may fold out of turn, where checking is free, or when all-in. Programs do this for
        players who are away. The state records it as a fold.

        Args:
            player: the player who leaves.

        Raises:
            IllegalAction: the player has folded or is the only one left.
        """
        if self.folded[player] or self.folded.count(False) == 1:
            raise IllegalAction(f"player {player} cannot fold after `{self.text()}`")
        folded = (*self.folded[:player], True, *self.folded[player + 1 :])
        alone = folded.count(False) == 1
        street = self.street
        while self.is_over and alone and street and not self.actions[street]:
            street -= 1  # no cards are dealt any more
        actions = (*self.actions[:street], (*self.actions[street], FOLD))
        actors = (*self.actors[:street], (*self.actors[street], player))
        waiting = self.waiting & ~(1 << player)
        after = replace(self, street=street, actions=actions, actors=actors, folded=folded, waiting=waiting)
        if alone or self.is_over:
            return replace(after, to_act=NOBODY, waiting=0)
        if waiting:
            return replace(after, to_act=_first_from(self.to_act, waiting, self.rules.num_players))
        if self.street + 1 < self.rules.num_streets:
            blank = (*actions, ()), (*actors, ())
            return Betting._open_street(self.rules, self.street + 1, self.committed, folded, *blank)
        return replace(after, to_act=NOBODY)

    def apply_by(self, player: int, action: int) -> "Betting":
        """Return the state after an action that was observed at a table.

        A fold out of turn, or where checking is free, makes the player leave the hand. Tables differ in what reopens
        the betting, so a raise is also accepted where a short all-in did not reopen it.

        Args:
            player: the player who acted.
            action: FOLD, CALL or a raise-to total.

        Raises:
            IllegalAction: the action is not legal, or it is not the player's turn.
        """
        if player == self.to_act and (action != FOLD or self.legal().fold):
            return self._apply(action, self.legal(reopened=True))
        if action != FOLD:
            raise IllegalAction(f"player {player} cannot act after `{self.text()}`: it is not their turn")
        return self.leave(player)

    @property
    def line(self) -> list[int]:
        """The actions of all streets in one list."""
        return list(chain.from_iterable(self.actions))

    def moves(self, street: int | None = None) -> Iterator[tuple[int, int]]:
        """Iterate over pairs of player and action.

        Args:
            street: the street to list; None for all streets.

        Returns:
            An iterator of pairs (player, action).
        """
        if street is not None:
            return zip(self.actors[street], self.actions[street], strict=True)
        return zip(chain.from_iterable(self.actors), chain.from_iterable(self.actions), strict=True)

    def turns(self, root: "Betting | None" = None) -> Iterator[tuple["Betting", int, int]]:
        """Iterate over the state before each action, the player and the action.

        Args:
            root: the state to begin with; None for the start of the hand.

        Yields:
            Triples (state before the action, player, action).
        """
        betting = root or Betting.start(self.rules)
        for player, action in islice(self.moves(), len(betting.line), None):
            yield betting, player, action
            betting = betting.apply_by(player, action)

    def last_raiser(self, street: int) -> int:
        """Return the player who made the last bet or raise of `street`, or NOBODY if all checked or called."""
        raisers = [player for player, action in self.moves(street) if action > 0]
        return raisers[-1] if raisers else NOBODY

    def round_start(self, street: int | None = None) -> tuple[int, ...]:
        """Return the chips that each player had put in when a street began.

        Args:
            street: the street; None for the current one.

        Returns:
            [P] chips; all 0 before the flop.
        """
        street = self.street if street is None else street
        if not street:
            return (0,) * self.rules.num_players
        return next((before.committed for before, _, _ in self.turns() if before.street >= street), self.committed)

    def verb(self, action: int) -> str:
        """Return the word for `action` of the player to act: `fold`, `check`, `call`, `bet` or `raise`."""
        if action in (FOLD, CALL):
            return "fold" if action == FOLD else "call" if self.to_call else "check"
        return "raise" if self.num_raises or (not self.street and self.highest) else "bet"

    def _refusal(self, action: int, legal: Legal) -> str:
        verb = {FOLD: "fold", CALL: "call"}.get(action, f"raise to {action}")
        if self.is_over:
            return f"illegal action `{verb}`: the hand is over after `{self.text()}`"
        return f"illegal action `{verb}` of player {self.to_act} after `{self.text()}`: legal are {legal}"

    def text(self) -> str:
        """Return the ACPC betting string: `f`, `c`, `r` (limit) or `r<total>` (no-limit), streets separated by `/`."""
        return "/".join("".join(self.action_text(action) for action in street) for street in self.actions)

    def action_text(self, action: int) -> str:
        """Return the ACPC text of one action: `f`, `c`, `r` (limit) or `r<total>` (no-limit)."""
        if action == FOLD:
            return "f"
        if action == CALL:
            return "c"
        return "r" if self.rules.betting == LIMIT else f"r{action}"

    def parse_action(self, text: str, round_start: int = 0) -> int:
        """Read one action in ACPC notation.

        All protocols read actions with this method. It also accepts `k` for check and `b300` for a bet. Totals are
        ASCII digits without a leading zero.

        Args:
            text: the action, such as `f`, `c`, `r` or `r300`.
            round_start: chips that each player had put in before the round. It is added to the total, for protocols
                that count totals from the start of the round.

        Returns:
            FOLD, CALL or a raise-to total. The total is not checked against the legal range.

        Raises:
            IllegalAction: the text is not an action of this game.
        """
        match = re.fullmatch(r"([fckrb])((?:[1-9][0-9]{0,9})?)", text)
        letter, size = match.groups() if match else ("", "")
        sized = letter in ("r", "b") and self.rules.betting != LIMIT
        if not letter or bool(size) != sized:
            expected = "f, c or r" if self.rules.betting == LIMIT else "f, c or r<total>"
            raise IllegalAction(f"`{text[:100]}` is not an action of the game `{self.rules.name}`: expected {expected}")
        if letter == "f":
            return FOLD
        if letter in "ck":
            return CALL
        if sized:
            return int(size) + round_start
        return self.legal().min_raise or self.highest + self.rules.raise_sizes[self.street]

    @classmethod
    def parse(cls, rules: Rules, text: str) -> "Betting":
        """Play an ACPC betting string from the start of the hand.

        Args:
            text: the betting string. Separators after the last action may be missing.

        Raises:
            IllegalAction: the string contains an illegal action or a misplaced separator.
        """
        betting = cls.start(rules)
        quoted = text if len(text) <= 100 else f"{text[:100]}..."
        separators = 0
        for token in re.findall(r"/|[a-z][0-9]*|.", text, re.DOTALL):
            if token == "/":
                separators += 1
                if separators > betting.street:
                    raise IllegalAction(
                        f"betting `{quoted}`: `/` before the betting of street {betting.street} is over"
                    )
                continue
            if separators != betting.street and not betting.is_over:
                raise IllegalAction(f"betting `{quoted}`: `/` missing before `{token}` of street {betting.street}")
            betting = betting.apply(betting.parse_action(token))
        return betting


def _first_from(player: int, waiting: int, num_players: int) -> int:
    """Return the first player at or after `player` in seat order whose bit in `waiting` is set; `waiting` is not 0."""
    while not waiting >> (player := player % num_players) & 1:
        player += 1
    return player
