"""The betting of one hand, without cards: the one implementation of the betting rules.

`Betting` is immutable: `apply` returns the next state. The rules are those of cash tables:

- A no-limit raise adds at least the largest raise of the street so far, and at least the big blind, to the highest
  total. Limit raises add the raise size of the street; their number per street is capped.
- Going all-in is always enough to bet or raise, also below the minimum. A short all-in does not reopen the betting:
  a player who has acted on the street and since then faces less than a full raise may only call or fold. A full raise
  is the smallest one that may be made, in limit games half of it; short all-ins that together reach it reopen the
  betting (TDA rule 47; Robert's Rules of Poker, no-limit rule 3). Posting a blind is not acting. PokerKit 0.7.7
  differs: it looks at the last short all-ins alone, and compares them with the largest raise, not with the big blind.
- Nobody may raise when no other player left in the hand has chips beyond the highest total.
- A blind above the stack is posted all-in. With more than two players the whole big blind is called and raised all the
  same (`Rules.opening`). A player who covers all others with the blind alone is not asked to act.

Two players, and players with equal stacks, cannot meet a difference from the dealer of the ACPC; the games in which it
has rules of its own are `AcpcRules`.
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
    """An action or a betting string that the rules do not allow here; the message says what was legal."""


class Legal(NamedTuple):
    """Actions open to the player to act; calling (checking) is always allowed, the totals are 0 when raising is not."""

    fold: bool
    call: bool
    min_raise: int
    max_raise: int

    def allows(self, action: int) -> bool:
        if action == FOLD:
            return self.fold
        if action == CALL:
            return self.call
        return action > 0 and self.min_raise <= action <= self.max_raise

    def __str__(self) -> str:
        names = ["fold"] * self.fold + ["call"] * self.call
        if self.max_raise:
            same = self.min_raise == self.max_raise
            names.append(f"raise to {self.min_raise}" + ("" if same else f"..{self.max_raise}"))
        return ", ".join(names) if names else "nothing, the hand is over"


@dataclass(frozen=True, slots=True)
class Betting:
    """Public betting state. `committed` holds all chips a player has put in during the hand, blinds included.

    `actions[street]` and `actors[street]` run in parallel up to the current street. When everybody is all-in, `street`
    jumps to the last one. The fields from `waiting` on are bookkeeping of the current street; bit i is player i.
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
        committed = tuple(map(min, rules.blinds, rules.stacks))
        return cls._open_street(rules, 0, committed, (False,) * rules.num_players, ((),), ((),))

    @classmethod
    def at_street(cls, rules: Rules, street: int, committed: Iterable[int]) -> "Betting":
        """The start of a later street after unrecorded betting; the root of a subgame with a given pot."""
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
        """The first decision of `street`, or the end of the hand when fewer than two players can still bet."""
        stacks = rules.stacks
        live_stacks = sorted(stacks[i] for i in range(rules.num_players) if not folded[i])
        if len(live_stacks) == 1:
            return cls(rules, street, committed, folded, NOBODY, actions, actors, 0, 0, 0)
        matchable = live_stacks[-2]
        waiting = 0
        for i in range(rules.num_players):
            if not folded[i] and committed[i] < min(stacks[i], matchable):
                waiting |= 1 << i
        only_one = waiting & (waiting - 1) == 0
        if waiting == 0 or (only_one and committed[waiting.bit_length() - 1] >= max(committed)):
            last = rules.num_streets - 1
            blank: tuple[tuple[int, ...], ...] = ((),) * (last - street)
            return cls(rules, last, committed, folded, NOBODY, actions + blank, actors + blank, 0, 0, 0)
        to_act = _first_from(rules.first_player[street], waiting, rules.num_players)
        return cls(rules, street, committed, folded, to_act, actions, actors, 0, waiting, 0)

    @property
    def is_over(self) -> bool:
        return self.to_act < 0

    @property
    def is_showdown(self) -> bool:
        """Whether the hand is over with at least two players left in it."""
        return self.to_act < 0 and self.folded.count(False) > 1

    @property
    def pot(self) -> int:
        """All chips committed, a bet that nobody has called included."""
        return sum(self.committed)

    @property
    def called(self) -> tuple[int, ...]:
        """[P] chips that each player has committed, without a bet that nobody called."""
        most = sorted(self.committed)[-2]
        return tuple(min(chips, most) for chips in self.committed)

    @property
    def to_call(self) -> int:
        """Chips the player to act must add to stay in (at most the rest of the stack); 0 when the hand is over."""
        player = self.to_act
        if player < 0:
            return 0
        return min(self.highest, self.rules.stacks[player]) - self.committed[player]

    @property
    def highest(self) -> int:
        """The total to match. A player whose blind covers all others, who are all-in, need not complete it."""
        highest = max(self.committed)
        opening = self.rules.opening
        if highest >= opening or self.street:
            return highest
        covers = self.committed[self.to_act] == highest and not self._others_beyond(highest)
        return highest if covers else opening

    def legal(self, reopened: bool = False) -> Legal:
        """Legal actions; with `reopened`, as if the betting were open to everybody."""
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
        """Chips that a raise adds to the highest total, at least."""
        rules = self.rules
        if rules.betting == LIMIT:
            return rules.raise_sizes[self.street]
        if rules.any_raise_reopens and self.largest_raise:
            return self.largest_raise
        return max(self.largest_raise, rules.big_blind, 1)

    def _is_open(self, to_call: int) -> bool:
        """Whether the player to act may raise if the chips allow it."""
        rules = self.rules
        if self.num_raises == 0 or rules.any_raise_reopens or self.to_act not in self.actors[-1]:
            return True
        return to_call * (2 if rules.betting == LIMIT else 1) >= self._full_raise

    def _others_beyond(self, highest: int) -> bool:
        """Whether another player left in the hand has chips beyond `highest`, or, to the dealer of the ACPC, any."""
        rules, committed = self.rules, self.committed
        for i, stack in enumerate(rules.stacks):
            least = committed[i] if rules.any_raise_reopens else highest
            if stack > least and i != self.to_act and not self.folded[i]:
                return True
        return False

    def apply(self, action: int) -> "Betting":
        """The state after the player to act does `action`: FOLD, CALL or a raise-to total."""
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
        """The state after `player` gives up the hand out of turn, where checking is free, or all-in: people do all of
        that, and programs for those who are away.

        It is recorded as a fold. A player who has folded or is the only one left cannot leave.
        """
        if self.folded[player] or self.folded.count(False) == 1:
            raise IllegalAction(f"player {player} has no hand to give up after `{self.text()}`")
        folded = (*self.folded[:player], True, *self.folded[player + 1 :])
        alone = folded.count(False) == 1
        street = self.street
        while self.is_over and alone and street and not self.actions[street]:
            street -= 1  # no cards are dealt any more
        actions = (*self.actions[:street], (*self.actions[street], FOLD))
        actors = (*self.actors[:street], (*self.actors[street], player))
        waiting = self.waiting & ~(1 << player)
        left = replace(self, street=street, actions=actions, actors=actors, folded=folded, waiting=waiting)
        if alone or self.is_over:
            return replace(left, to_act=NOBODY, waiting=0)
        if waiting:
            return replace(left, to_act=_first_from(self.to_act, waiting, self.rules.num_players))
        if self.street + 1 < self.rules.num_streets:
            blank = (*actions, ()), (*actors, ())
            return Betting._open_street(self.rules, self.street + 1, self.committed, folded, *blank)
        return replace(left, to_act=NOBODY)

    def apply_by(self, player: int, action: int) -> "Betting":
        """The state after an action seen at a table: a fold out of turn, or where checking is free, leaves the hand.
        Tables differ in what reopens the betting, so a raise is allowed where a short all-in did not reopen it."""
        if player == self.to_act and (action != FOLD or self.legal().fold):
            return self._apply(action, self.legal(reopened=True))
        if action != FOLD:
            raise IllegalAction(f"player {player} cannot act after `{self.text()}`: it is not their turn")
        return self.leave(player)

    @property
    def line(self) -> list[int]:
        """The actions of all streets."""
        return list(chain.from_iterable(self.actions))

    def moves(self, street: int | None = None) -> Iterator[tuple[int, int]]:
        """Pairs of player and action, on `street` or on all of them."""
        if street is not None:
            return zip(self.actors[street], self.actions[street], strict=True)
        return zip(chain.from_iterable(self.actors), chain.from_iterable(self.actions), strict=True)

    def turns(self, root: "Betting | None" = None) -> Iterator[tuple["Betting", int, int]]:
        """The state before each action, the player and the action, from the start of the hand or from `root`."""
        betting = root or Betting.start(self.rules)
        for player, action in islice(self.moves(), len(betting.line), None):
            yield betting, player, action
            betting = betting.apply_by(player, action)

    def last_raiser(self, street: int) -> int:
        """The player who made the last bet or raise of `street`; NOBODY if all checked or called."""
        raisers = [player for player, action in self.moves(street) if action > 0]
        return raisers[-1] if raisers else NOBODY

    def round_start(self, street: int | None = None) -> tuple[int, ...]:
        """[P] chips that players had put in when `street`, or else the current one, began; nothing before the flop."""
        street = self.street if street is None else street
        if not street:
            return (0,) * self.rules.num_players
        return next((before.committed for before, _, _ in self.turns() if before.street >= street), self.committed)

    def verb(self, action: int) -> str:
        """The word for `action` of the player to act: `fold`, `check`, `call`, `bet` or `raise`."""
        if action in (FOLD, CALL):
            return "fold" if action == FOLD else "call" if self.to_call else "check"
        return "raise" if self.num_raises or (not self.street and self.highest) else "bet"

    def _refusal(self, action: int, legal: Legal) -> str:
        what = {FOLD: "fold", CALL: "call"}.get(action, f"raise to {action}")
        if self.is_over:
            return f"illegal action `{what}`: the hand is over after `{self.text()}`"
        return f"illegal action `{what}` of player {self.to_act} after `{self.text()}`: legal are {legal}"

    def text(self) -> str:
        """The ACPC betting string: `f`, `c`, `r` (limit) or `r<total>` (no-limit), streets separated by `/`."""
        return "/".join("".join(self.action_text(action) for action in street) for street in self.actions)

    def action_text(self, action: int) -> str:
        if action == FOLD:
            return "f"
        if action == CALL:
            return "c"
        return "r" if self.rules.betting == LIMIT else f"r{action}"

    def parse_action(self, text: str, round_start: int = 0) -> int:
        """The action that ACPC text (`f`, `c`, `r`, `r300`; `k` and `b300` for check and bet) means in this state.

        All protocols read actions by this: totals are ASCII digits without a leading zero. In protocols with totals of
        the round `round_start` is what each player had put in before it.
        """
        match = re.fullmatch(r"([fckrb])((?:[1-9][0-9]{0,9})?)", text)
        letter, size = match.groups() if match else ("", "")
        sized = letter in ("r", "b") and self.rules.betting != LIMIT
        if not letter or bool(size) != sized:
            wanted = "f, c or r" if self.rules.betting == LIMIT else "f, c or r<total>"
            raise IllegalAction(f"`{text[:100]}` is no action of the game `{self.rules.name}`: expected {wanted}")
        if letter == "f":
            return FOLD
        if letter in "ck":
            return CALL
        if sized:
            return int(size) + round_start
        return self.legal().min_raise or self.highest + self.rules.raise_sizes[self.street]

    @classmethod
    def parse(cls, rules: Rules, text: str) -> "Betting":
        """Plays an ACPC betting string from the start of the hand. Separators after the last action may be missing."""
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
    """The first player at or after `player` in seat order whose bit in `waiting` is set; `waiting` is not 0."""
    while not waiting >> (player := player % num_players) & 1:
        player += 1
    return player
