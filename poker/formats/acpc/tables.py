"""ACPC logs that contain the definition of each game as comment lines before its hands.

An example::

    # GAMEDEF
    # nolimit
    ...
    # END GAMEDEF
    STATE:0:cr300c/...:As2h|.../8dTc9s:-50|50:Bobby%20Lee|Ann # 30702949

Other programs skip comments, so one log can have hands with different stacks. Hands are numbered from 0 in order. A
hand's number in its source follows as a comment. Characters that a name in a log cannot have are percent-encoded as in
URLs.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from urllib.parse import quote, unquote

from poker.formats.acpc.log import OR_ANOTHER_GAME, log_line, parse_log_line, wrong_payoffs
from poker.formats.phh import without_opening
from poker.formats.played import PlayedHand, as_played
from poker.game.betting import Betting, IllegalAction
from poker.game.rules import Rules
from poker.game.state import DealError, HandState
from poker.run.errors import PokernetsError


def has_definition(text: str) -> bool:
    """Return whether a log defines a game.

    Args:
        text: text of the log.
    """
    return any(line.lstrip("# \t").strip().lower() == "gamedef" for line in text.split("\n") if line.startswith("#"))


def hands(text: str, game: Rules | None) -> Iterator[tuple[int, Callable[[], PlayedHand]]]:
    """Iterate over the hands of a log of Texas hold'em.

    Args:
        text: text of the log.
        game: game of hands before the first definition.

    Yields:
        The line number of each hand, and a function that reads the hand.
    """
    rules: Rules | PokernetsError | None = game
    definition: list[str] | None = None
    for number, raw in enumerate(text.split("\n"), 1):
        line, _, comment = raw.partition(" # ")
        if line.startswith("#"):
            words = raw.lstrip("#").strip()
            definition = [] if words.lower() == "gamedef" else definition
            if definition is not None:
                definition.append(words)
            if definition is not None and words.lower() == "end gamedef":
                try:
                    rules = Rules.from_acpc("\n".join(definition), "log")
                except PokernetsError as error:
                    rules = error
                definition = None
        elif line.strip() and not line.startswith("SCORE:"):
            yield number, partial(_hand, line.strip(), comment.strip(), rules, number)


def _hand(text: str, comment: str, game: Rules | PokernetsError | None, line: int) -> PlayedHand:
    if game is None:
        raise PokernetsError("the log does not name its game: set game=NAME, or game=acpc game.path=FILE")
    if isinstance(game, PokernetsError):
        raise game
    try:
        hand = as_played(parse_log_line(game, text), line)
    except PokernetsError as error:
        raise PokernetsError(f"{error}{OR_ANOTHER_GAME.format(game.name)}") from error
    names = tuple(map(unquote, hand.names))
    hand = replace(hand, names=names) if len(set(names)) == len(names) else hand
    return replace(hand, number=int(comment)) if comment.isascii() and comment.isdigit() and len(comment) < 19 else hand


def log_texts(hands: Iterable[PlayedHand]) -> Iterator[str]:
    """Write hands as a log.

    Yields:
        The text of each hand.

    Raises:
        PokernetsError: the format cannot represent a hand.
    """
    last = ""
    for number, hand in enumerate(hands):
        state = _log_state(hand)
        definition = "".join(f"# {line}\n" for line in state.rules.to_acpc().splitlines())
        names = [quote(name, safe="!$&'()*+,;=@/?~") or "%20" for name in hand.names]
        line = log_line(state, number, names, hand.payoffs)
        yield (definition if definition != last else "") + f"{line} # {hand.number}\n"
        last = definition


def _log_state(hand: PlayedHand) -> HandState:
    """Return the finished hand by the rules of an ACPC game."""
    rules = hand.rules
    if rules.forced:
        raise PokernetsError("ACPC logs do not support antes or dead blinds")
    if hand.rake:
        raise PokernetsError("ACPC logs do not support rake: payoffs must sum to 0")
    if hand.boards or rules.pot_limit:
        raise PokernetsError(f"ACPC logs do not support {'a second board' if hand.boards else 'pot-limit betting'}")
    state = without_opening(hand.state)
    betting = state.betting
    wanted = betting.actions, betting.actors, betting.committed
    try:
        betting = Betting.parse(rules.at_the_acpc(), betting.text())
        fits = betting.is_over and (betting.actions, betting.actors, betting.committed) == wanted
    except IllegalAction:
        fits = False
    if not fits:
        raise PokernetsError(
            "ACPC logs do not support folds out of turn or without a bet, nor other smallest raises than the big blind"
        )
    end = replace(state, betting=betting)
    unseen = (i for i, cards in enumerate(end.hole_cards) if not cards and not betting.folded[i])
    if betting.is_showdown and not hand.mucked.issuperset(unseen):
        raise PokernetsError("ACPC logs do not support a winner who shows no cards at showdown")
    if betting.is_showdown and hand.mucked:
        pays = False
        with suppress(DealError):
            pays = end.payoffs() == [round(chips) for chips in hand.payoffs]
        hidden = [() if i in hand.mucked and not pays else cards for i, cards in enumerate(end.hole_cards)]
        end = replace(end, hole_cards=tuple(hidden))
    if wrong_payoffs(end, hand.payoffs):
        raise PokernetsError("in ACPC logs odd chips go to the first winners from the button")
    return end
