"""Hands as text in the formats of the Annual Computer Poker Competition (protocol 2.0.0).

A message to one player leaves out hidden hole cards. A line of a dealer's log has all hole cards::

    MATCHSTATE:<player>:<hand>:<betting>:<cards>
    STATE:<hand>:<betting>:<cards>:<payoffs>:<names>

`<cards>` is the hole cards of every player, separated by `|`, then `/` and the board cards of each street. Payoffs and
names are in seat order of the hand, separated by `|`. The ACPC dealer divides the odd chips of split pots, and writes
payoffs with up to six decimal places. A player's own log lacks the hole cards that the player did not see.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from poker.game.rules import Rules
from poker.game.state import Betting, DealError, HandState, IllegalAction, split_pots
from poker.run.errors import PokernetsError
from poker.run.limits import LONGEST_LOG_LINE, check_length

_NUMBER = "(0|[1-9][0-9]{0,9})"
_MATCH_STATE = re.compile(rf"MATCHSTATE:{_NUMBER}:{_NUMBER}:([^:]*):([^:]*)")
_STATE = re.compile(rf"STATE:{_NUMBER}:([^:]*):([^:]*):([^:]*):([^:]*)")
_PAYOFF = re.compile(r"-?[0-9]{1,10}(\.[0-9]{1,6})?")
_NAME = re.compile(r"[^:|\s]+")
OR_ANOTHER_GAME = " (a log of another game than `{}` needs game=NAME)"
"""Hint after what is wrong with a line."""
_ROUNDED = 1e-6
"""Largest rounding error of a payoff with six decimal places, in chips."""


class AcpcError(PokernetsError):
    """Text that is not a state, log line or log of the game; the message names the wrong part."""


@dataclass(frozen=True)
class MatchState:
    """The state of a hand as one player sees it; hidden hole cards are empty.

    Attributes:
        player: seat of the player.
        number: number of the hand.
    """

    player: int
    number: int
    state: HandState


@dataclass(frozen=True)
class LoggedHand:
    """One finished hand of a log.

    Attributes:
        number: number of the hand.
        state: state at the end.
        payoffs: [P] net chips in seat order.
        names: [P] names in seat order.
    """

    number: int
    state: HandState
    payoffs: tuple[float, ...]
    names: tuple[str, ...]


def cards_text(state: HandState) -> str:
    """Return known hole cards and the board up to the current street, as in `As2h|/8dTc9s/2c`."""
    return "|".join(map(state.rules.cards_text, state.hole_cards)) + "/".join(board_texts(state))


def board_texts(state: HandState) -> list[str]:
    """Return the cards of each deal up to the current street; the first is empty."""
    starts = (0, *state.rules.board_sizes)
    return [state.rules.cards_text(state.board[starts[i] : starts[i + 1]]) for i in range(state.street + 1)]


def match_state_text(state: HandState, number: int, player: int) -> str:
    """Return the text that the dealer sends to a player; at a showdown it includes the hole cards shown.

    Args:
        number: number of the hand.
        player: seat of the player.
    """
    return f"MATCHSTATE:{player}:{number}:{state.betting.text()}:{cards_text(state.view(player))}"


def parse_match_state(rules: Rules, text: str) -> MatchState:
    """Read a match state.

    Raises:
        AcpcError: the text is not a match state of the game.
    """
    match = _MATCH_STATE.fullmatch(text)
    if not match:
        raise AcpcError(f"`{_short(text)}` is not a match state: expected MATCHSTATE:<player>:<hand>:<betting>:<cards>")
    player, number, betting, cards = match.groups()
    if int(player) >= rules.num_players:
        raise AcpcError(f"`{_short(text)}`: player {player} in a game for {rules.num_players} players")
    return MatchState(int(player), int(number), _parse_state(rules, betting, cards, text))


def chips_text(chips: float) -> str:
    """Return chips as the competition's dealer writes them: up to six decimal places, none for whole chips."""
    return f"{round(chips, 6) + 0.0:.6f}".rstrip("0").rstrip(".")


def check_names(names: Sequence[str]) -> None:
    """Check that a log can contain some names, which must be ASCII for other programs.

    Raises:
        AcpcError: a log cannot contain a name.
    """
    for name in names:
        if not (name.isascii() and _NAME.fullmatch(name)):
            raise AcpcError(f"player name `{name}`: a name in a log is ASCII and has no `:`, `|` or white space")


def log_line(state: HandState, number: int, names: Sequence[str], payoffs: Sequence[float] | None = None) -> str:
    """Return the log line of a finished hand.

    Args:
        state: state at the end.
        number: number of the hand.
        names: [P] names in seat order.
        payoffs: [P] net chips in seat order; None for the payoffs of the state.

    Raises:
        AcpcError: a log cannot contain a name.
    """
    check_names(names)
    chips = "|".join(map(chips_text, state.payoffs() if payoffs is None else payoffs))
    return f"STATE:{number}:{state.betting.text()}:{cards_text(state)}:{chips}:{'|'.join(names)}"


def parse_log_line(rules: Rules, text: str) -> LoggedHand:
    """Read a finished hand and check its payoffs.

    The payoffs must follow from betting and cards, where odd chips of a split pot may be divided. If cards that
    determine the payoffs are missing, only their sum must be 0.

    Args:
        text: the line.

    Raises:
        AcpcError: the line is not a finished hand of the game, or its payoffs are wrong.
        LimitError: the line is too long.
    """
    check_length(text, LONGEST_LOG_LINE, "a line")
    match = _STATE.fullmatch(text)
    if not match:
        raise AcpcError(
            f"`{_short(text)}` is not a log line: expected STATE:<hand>:<betting>:<cards>:<payoffs>:<names>"
        )
    number, betting, cards, payoffs_text, names_text = match.groups()
    state = _parse_state(rules, betting, cards, text)
    if not state.is_over:
        raise AcpcError(f"`{_short(text)}`: the hand is not over after `{_short(betting)}`")
    payoffs, names = payoffs_text.split("|"), names_text.split("|")
    if len(payoffs) != rules.num_players or not all(map(_PAYOFF.fullmatch, payoffs)):
        raise AcpcError(f"`{_short(text)}`: expected {rules.num_players} payoffs, not `{_short(payoffs_text)}`")
    if len(names) != rules.num_players or not all(map(_NAME.fullmatch, names)):
        raise AcpcError(f"`{_short(text)}`: expected {rules.num_players} names, not `{_short(names_text)}`")
    values = tuple(map(float, payoffs))
    wrong = wrong_payoffs(state, values)
    if wrong:
        raise AcpcError(f"`{_short(text)}`: {wrong}")
    return LoggedHand(int(number), state, values, tuple(names))


def wrong_payoffs(end: HandState, values: tuple[float, ...]) -> str:
    """Describe an error in the payoffs of a hand.

    Args:
        end: state at the end.
        values: [P] net chips.

    Returns:
        The description; empty if the payoffs are right.
    """
    try:
        whole = end.payoffs()
    except DealError:
        total = sum(values)
        return "" if abs(total) <= _ROUNDED * len(values) else f"the payoffs sum to {chips_text(total)}, not 0"
    divided = end.divided_payoffs()
    if any(_same_chips(values, chips) for chips in (whole, divided, payoffs_of_pokerkit(end))):
        return ""
    right = ["|".join(map(chips_text, chips)) for chips in (whole, divided)]
    return f"the payoffs of this hand are {' or '.join(dict.fromkeys(right))}"


def payoffs_of_pokerkit(end: HandState) -> list[int]:
    """Compute payoffs by PokerKit 0.7.7's rule for odd chips.

    Pots with the same winners are merged, and the odd chips go to the first winner.

    Args:
        end: state at the end.

    Returns:
        [P] net chips.
    """
    together = Counter[tuple[int, ...]]()
    for chips, winners in end.awards():
        together[winners] += chips
    parts = [(chips - chips % len(winners), winners) for winners, chips in together.items()]
    odd = [(chips % len(winners), winners[:1]) for winners, chips in together.items()]
    return split_pots(end.paid, parts + odd)


def _same_chips(written: Sequence[float], right: Sequence[float]) -> bool:
    return all(abs(a - b) <= _ROUNDED for a, b in zip(written, right, strict=True))


def read_log(rules: Rules, path: Path) -> Iterator[LoggedHand]:
    """Iterate over the hands of a log file.

    Comments, blank lines and the final score are skipped. A comment may also follow a hand after `#` between spaces.
    Logs of DeepStack's matches have the time of day there.

    Args:
        path: path of the file.

    Raises:
        AcpcError: a line is not a hand of the game.
    """
    with path.open(encoding="ascii", errors="replace") as file:
        for line_number, line in enumerate(file, 1):
            text = line.partition(" # ")[0].strip()
            if not text or text.startswith(("#", "SCORE:")):
                continue
            try:
                yield parse_log_line(rules, text)
            except PokernetsError as error:
                raise AcpcError(f"{path}, line {line_number}: {error}{OR_ANOTHER_GAME.format(rules.name)}") from error


def _parse_state(rules: Rules, betting_text: str, cards: str, whole: str) -> HandState:
    try:
        betting = Betting.parse(rules, betting_text)
        if betting.text() != betting_text:
            raise IllegalAction(f"betting `{_short(betting_text)}` should read `{betting.text()}`")
        hands_text, *streets = cards.split("/")
        end = len(hands_text) - 2 * rules.board_cards[0]
        hands = [rules.parse_cards(hand) for hand in hands_text[:end].split("|")]
        board = [rules.parse_cards(street) for street in [hands_text[end:], *streets]]
        if tuple(map(len, board)) != rules.board_cards[: betting.street + 1]:
            raise AcpcError(
                f"the board after `{betting_text}` does not have the cards of {betting.street + 1} street(s)"
            )
        return HandState.at(betting, hands, [card for street in board for card in street])
    except PokernetsError as error:
        raise AcpcError(f"`{_short(whole)}`: {_short(str(error))}") from error


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}..."
