"""Hands of Texas hold'em as Poker Hand History files (.phh, .phhs), the format of PokerKit.

A file of many hands (.phhs) is a sequence of TOML tables named 1, 2, ... Raises are totals of their street, and players
are p1, p2, ... in seat order. The blinds of a heads-up game are given for the button first. Unknown cards are `??`.
Only games with a variant in the format can be written: no-limit (NT) and limit (FT).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, time
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from poker.formats import played
from poker.formats.acpc.log import LoggedHand
from poker.formats.played import PlayedHand, TableRules
from poker.game.rules import CALL, FOLD, UNLIMITED, Rules
from poker.game.state import NOBODY, Betting, HandState
from poker.run.atomic import written_atomically
from poker.run.errors import PokernetsError

_MOST_RAISES = 4
"""Largest number of raises per street in PokerKit's limit games."""

GAME_FIELDS = (
    *("variant", "ante_trimming_status", "antes", "blinds_or_straddles", "small_bet", "big_bet", "min_bet"),
    *("starting_stacks", "actions"),
)
"""The fields that determine the play."""


def why_not_written(rules: Rules) -> str:
    """Check that hands of a game can be written.

    Returns:
        The reason why not; empty if they can.
    """
    why_not = played.why_not_a_table(rules)
    if why_not:
        return why_not
    small, big = rules.blinds[:2] if rules.num_players > 2 else rules.blinds[::-1]
    first = 1 if rules.num_players == 2 else 2 % rules.num_players
    if not 0 <= small <= big or not big or any(rules.blinds[2:]) or rules.first_player[0] != first:
        return f"`{rules.name}`: PHH files need a small and a big blind, and the next player acts first"
    if rules.is_limit and max(rules.max_raises) > _MOST_RAISES:
        return f"`{rules.name}`: PHH files of limit games have at most {_MOST_RAISES} raises per street"
    return ""


def write_phhs(path: Path, hands: Iterable[LoggedHand]) -> None:
    """Write a .phhs file atomically; an error leaves an existing file unchanged.

    Args:
        path: path of the file.

    Raises:
        PokernetsError: the format cannot represent a hand.
    """
    with written_atomically(path) as file:
        for text in phhs_texts(hands):
            file.write(text.encode())


def phhs_texts(hands: Iterable[LoggedHand]) -> Iterator[str]:
    """Write hands as the text of a .phhs file.

    Yields:
        The text of each hand.
    """
    for number, hand in enumerate(hands, 1):
        yield ("\n" if number > 1 else "") + f"[{number}]\n{hand_text(hand)}"


def hand_text(hand: LoggedHand) -> str:
    """Return the text of a .phh file with one finished hand.

    Raises:
        PokernetsError: the format cannot represent the hand.
    """
    played.check_raises(hand.state.betting)
    if not isinstance(hand, PlayedHand):
        why_not = why_not_written(hand.state.rules)
        if why_not:
            raise PokernetsError(why_not)
        hand = played.as_played(hand)
    return "".join(f"{_key(name)} = {_value(value)}\n" for name, value in _fields(hand).items())


def _fields(hand: PlayedHand) -> dict[str, object]:
    rules, scale = hand.rules, hand.scale
    if hand.boards or rules.pot_limit:
        raise PokernetsError(f"PHH files do not support {'a second board' if hand.boards else 'pot-limit Texas games'}")
    posts = posts_of(rules)
    antes, trimmed = _antes(rules)
    if rules.num_players == 2:
        posts, antes = posts[::-1], antes[::-1]
    bets: dict[str, object] = {"min_bet": amount(rules.big_blind, scale)}
    if rules.is_limit:
        bets = {"small_bet": amount(rules.raise_sizes[0], scale), "big_bet": amount(rules.raise_sizes[-1], scale)}
    fields = {
        "variant": "FT" if rules.is_limit else "NT",
        "ante_trimming_status": trimmed,
        "antes": amounts(antes, scale),
        "blinds_or_straddles": amounts(posts, scale),
        **bets,
        "starting_stacks": amounts(rules.starting_stacks, scale),
        "actions": _actions(without_opening(hand.state), hand.mucked, scale),
        **hand.details,
        **_results(hand),
    }
    number = {"hand": fields.get("hand", hand.number)} if hand.has_number else {}
    return {**fields, **number, "players": list(hand.names)}


def _results(hand: PlayedHand) -> dict[str, object]:
    """Return the winnings if they do not follow from the play: after a rake, or with other winners of odd chips."""
    if not hand.rake and played.payoffs_by_rules(hand.state, hand.mucked) == [round(net) for net in hand.payoffs]:
        return {}
    rake = {"_rake": amount(hand.rake, hand.scale)} if hand.rake else {}
    return {"winnings": amounts(hand.collected, hand.scale), **rake}


def posts_of(rules: TableRules) -> list[int]:
    """Return the `blinds_or_straddles` of a hand.

    Posts of players new at the table are negative, because they do not move the opener.

    Args:
        rules: rules of the hand.

    Returns:
        [P] chips.

    Raises:
        PokernetsError: another player begins than the format's rule says.
    """
    big = (rules.first_player[0] - 1) % rules.num_players
    posts = [-chips if i > big and rules.num_players > 2 else chips for i, chips in enumerate(rules.blinds)]
    if opener(posts, rules.stacks) != rules.first_player[0]:
        raise PokernetsError("in PHH files the player after the largest blind acts first, which is not so in this hand")
    return posts


def opener(posts: Sequence[int], stacks: Sequence[int]) -> int:
    """Return the first player to act before the flop, who sits behind the last of the largest blinds.

    PokerKit takes the player behind the largest amount that was actually posted. This function does so too if it
    changes who acts first. Mostly it does not, because the blinds behind that amount are all-in.

    Args:
        posts: [P] posts in chips; negative for players new at the table.
        stacks: [P] stacks in chips.
    """
    players = range(len(posts))
    posted = [min(post, stack) if post > 0 else -(post < 0 < stack) for post, stack in zip(posts, stacks, strict=True)]
    by_name, by_chips = ((max(zip(chips, players, strict=True))[1] + 1) % len(posts) for chips in (posts, posted))

    def first_able(start: int) -> int:
        """Return the first player from `start` on with chips left after the blinds, or -1."""
        return next((i for i in (*players[start:], *players[:start]) if stacks[i] > abs(posts[i])), -1)

    return by_name if first_able(by_name) == first_able(by_chips) else by_chips


def _antes(rules: TableRules) -> tuple[list[int], bool]:
    """Return the antes [P], and whether they make side pots as bets do."""
    antes, dead = rules.forced_chips
    if not any(dead):
        return list(antes), True
    if len(set(antes)) > 1:
        raise PokernetsError("PHH files do not support a dead blind beside an all-in ante")
    return [ante + chips for ante, chips in zip(antes, dead, strict=True)], False


def without_opening(state: HandState) -> HandState:
    """Return the finished hand by rules in which a short all-in big blind is all there is to call.

    Args:
        state: state at the end.

    Raises:
        PokernetsError: the whole big blind was called.
    """
    betting, rules = state.betting, state.rules
    if max(map(min, rules.blinds, rules.stacks)) >= rules.opening:
        return state
    replayed = played.replay(
        replace(rules, opening=0) if isinstance(rules, TableRules) else rules.at_the_acpc(), betting
    )
    if replayed is None or replayed.committed != betting.committed:
        raise PokernetsError(
            "in PHH files a call matches only the chips of an all-in big blind, but here the whole blind was called"
        )
    return replace(state, betting=replayed)


def amount(chips: int, scale: int) -> int | Decimal:
    """Convert chips to units of the currency, with two or more decimals unless they are 0.

    Args:
        scale: chips per unit.
    """
    places = len(str(scale)) - 1
    if chips >= UNLIMITED:
        return Decimal("inf")
    return chips // scale if chips % scale == 0 else Decimal(chips).scaleb(-places)


def amounts(chips: Iterable[int], scale: int) -> list[int | Decimal]:
    """Convert several amounts with `amount`.

    Args:
        scale: chips per unit.
    """
    return [amount(count, scale) for count in chips]


def _key(name: str) -> str:
    return name if name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name) else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_value(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else f"{float(value)}"
    return json.dumps(value)


def _actions(end: HandState, mucked: frozenset[int], scale: int) -> list[str]:
    rules, betting = end.rules, end.betting
    hands = [rules.cards_text(cards) or "??" * rules.num_hole_cards for cards in end.hole_cards]
    lines = [f"d dh p{i + 1} {hand}" for i, hand in enumerate(hands)]
    deals = [f"d db {rules.cards_text(end.board[a:b])}" for a, b in pairwise(rules.board_sizes)]
    earlier, highest, dealt = 0, max(map(min, rules.blinds, rules.stacks)), 0
    for street, actions in enumerate(betting.actions):
        if street:
            earlier = highest
        if actions:
            lines += deals[dealt:street]
            dealt = street
        for player, action in betting.moves(street):
            if action in (FOLD, CALL):
                lines.append(f"p{player + 1} {'f' if action == FOLD else 'cc'}")
            else:
                lines.append(f"p{player + 1} cbr {amount(action - earlier, scale)}")
                highest = action
    if betting.is_showdown:
        lines += deals[dealt:]
        lines += [f"p{i + 1} sm" if i in mucked else f"p{i + 1} sm {hands[i]}" for i in showing(betting)]
    return lines


def showing(betting: Betting) -> list[int]:
    """Return the players at the showdown in the order of showing, which begins with the last raiser of the last street.

    Args:
        betting: betting of the finished hand.
    """
    last = len(betting.actions) - 1
    raiser = betting.last_raiser(last)
    first = betting.rules.first_player[last] if raiser == NOBODY else raiser
    players = betting.rules.num_players
    return [i for i in ((first + k) % players for k in range(players)) if not betting.folded[i]]
