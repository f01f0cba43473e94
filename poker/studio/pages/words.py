"""Wording of cards, actions and hands on the pages, for display and for screen readers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import count, islice

from poker.game.betting import Betting
from poker.game.cards import RANKS, SUITS
from poker.game.rules import CALL, Rules
from poker.game.state import HandState
from poker.studio.games.table_game import PERSON, Seen

_RANK_NAMES = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king", "ace")
_SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
SUIT_SYMBOLS = "♣♦♥♠"
STREETS = ("Before the flop", "Flop", "Turn", "River")


def card_name(card: str) -> str:
    """Return the name of a card, such as `ace of hearts` for `Ah`."""
    return f"{_RANK_NAMES[RANKS.index(card[0])]} of {_SUIT_NAMES[SUITS.index(card[1])]}"


def card_html(card: str) -> str:
    """Return the HTML of a card such as `Ah`."""
    symbol = SUIT_SYMBOLS[SUITS.index(card[1])]
    return (
        f'<span class="card suit-{card[1]}" role="img" aria-label="{card_name(card)}">'
        f'<span aria-hidden="true">{card[0]}<br>{symbol}</span></span>'
    )


HIDDEN = '<span class="card back" role="img" aria-label="hidden card"></span>'
PLACE = '<span class="card place" aria-hidden="true"></span>'


def cards_html(rules: Rules, cards: Sequence[int]) -> str:
    """Return the HTML of cards."""
    return "".join(card_html(rules.card_text(card)) for card in cards)


def row_cards(text: str) -> str:
    """Return the HTML of cards such as `AhKd`, drawn as high as a row of a list."""
    cards = "".join(card_html(text[place : place + 2]) for place in range(0, len(text), 2))
    return f'<span class="row-cards">{cards}</span>'


def small_cards(rules: Rules, cards: Sequence[int]) -> str:
    """Return the HTML of cards within a line of text."""
    return small_texts(map(rules.card_text, cards))


def hole_cards(rules: Rules, cards: Iterable[int]) -> str:
    """Return the HTML of a player's cards within a line of text, the higher first."""
    return small_cards(rules, sorted(cards, reverse=True))


def small_texts(cards: Iterable[str]) -> str:
    """Return the HTML of cards such as `Ah` within a line of text."""
    return " ".join(
        f'<span class="small suit-{card[1]}">{card[0]}{SUIT_SYMBOLS[SUITS.index(card[1])]}</span>' for card in cards
    )


def chips(amount: float, big_blind: int | None = None) -> str:
    """Return an amount in chips, or in big blinds if the chips of a big blind are given."""
    if big_blind is not None:
        return f"{f'{amount / big_blind:,.2f}'.rstrip('0').rstrip('.')} bb"
    return f"{amount:,.0f}" if float(amount).is_integer() else f"{amount:,.2f}"


def action_name(betting: Betting, action: int, big_blind: int | None = None) -> str:
    """Return the name of an action: `fold`, `check`, `call 200`, `bet 300` or `raise to 900`, perhaps with `all-in`.

    Args:
        betting: betting before the action.
        big_blind: as in `chips`.
    """
    verb, player = betting.verb(action), betting.to_act
    if verb in ("fold", "check"):
        return verb
    if action == CALL:
        amount, total = betting.to_call, betting.committed[player] + betting.to_call
    else:
        amount, total = action - max(betting.round_start()), action
    name = f"{'raise to' if verb == 'raise' else verb} {chips(amount, big_blind)}"
    return f"{name}, all-in" if total >= betting.rules.stacks[player] else name


def blind_name(betting: Betting, seat: int) -> str:
    """Return `small blind` or `big blind` if a seat has put in nothing else; otherwise empty."""
    posted = betting.rules.blinds[seat]
    if betting.street or not posted or any(player == seat for _, player, _ in betting.turns()):
        return ""
    return "big blind" if posted >= betting.rules.big_blind else "small blind"


def history(seen: Seen, big_blind: int | None = None) -> Iterator[tuple[str, list[str]]]:
    """Yield the hand so far: for every street a title, and a line for each action."""
    state = seen.state
    turns = state.betting.turns()
    for street, actions in enumerate(state.betting.actions):
        if street > state.street:
            return
        board = state.board[: state.rules.board_sizes[street]]
        lines = [
            f"{escape(seen.names[player])}: {action_name(before, action, big_blind)}"
            for before, player, action in islice(turns, len(actions))
        ]
        posted = " and ".join(chips(amount, big_blind) for amount in sorted(filter(None, state.rules.blinds)))
        pot = f" · blinds {posted}" if posted else ""
        if street:
            pot = f" · pot {chips(sum(state.betting.round_start(street)), big_blind)}"
        yield f"{STREETS[street]} {small_cards(state.rules, board)}{pot}", lines


def history_html(seen: Seen, big_blind: int | None = None, marked: int | None = None) -> str:
    """Return the HTML of the hand so far, in which the action of number `marked` is marked."""
    numbers, marks = count(), ("", " aria-current=step")
    streets = (
        f"<div><h3>{title}</h3>"
        f"<ol>{''.join(f'<li{marks[next(numbers) == marked]}>{line}</li>' for line in lines)}</ol></div>"
        for title, lines in history(seen, big_blind)
    )
    return f'<h2>Hand {seen.number + 1}</h2><div class="streets">{"".join(streets)}</div>'


def results_html(names: Sequence[str], state: HandState, payoffs: Sequence[float]) -> str:
    """Return the HTML of the known cards of a finished hand, and of the results in big blinds."""
    parts = (
        f"{escape(name)} {hole_cards(state.rules, cards)} {net / state.rules.big_blind:+.4g} bb"
        for name, cards, net in zip(names, state.hole_cards, payoffs, strict=True)
    )
    return f"<p><b>{', '.join(parts)}</b></p>"


def outcome(seen: Seen, big_blind: int | None = None) -> str:
    """Return the outcome of a finished hand: the chips won and lost."""
    payoffs = seen.state.payoffs()
    mine = payoffs[seen.seat]
    won = [f"{seen.names[i]} +{chips(net, big_blind)}" for i, net in enumerate(payoffs) if net > 0 and i != seen.seat]
    showdown = " at the showdown" if seen.state.betting.is_showdown else ""
    if mine > 0:
        return f"You win {chips(mine, big_blind)}{showdown}."
    if mine == 0 and not won:
        return f"The pot is split{showdown}."
    lost = f"You lose {chips(-mine, big_blind)}{showdown}" if mine else "You are even"
    return f"{lost}; {', '.join(won)}."


def table_html(heads: Iterable[str], rows: Iterable[str]) -> str:
    """Return the HTML of a table with `rows` of HTML."""
    head = "".join(f"<th scope=col>{head}</th>" for head in heads)
    return f"<table class=actions><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def reasons(left_out: Mapping[str, int], most: int = 6) -> str:
    """Return reasons in short form with counts, such as `The stacks differ (3), limit betting (1)`.

    Args:
        left_out: count of each reason.
        most: most reasons to list.
    """
    counts = Counter[str]()
    for reason, number in left_out.items():
        counts[reason.partition(":")[0].rstrip(".")] += number
    more = f" and {len(counts) - most} more reasons" if len(counts) > most else ""
    return ", ".join(f"{reason} ({count:,})" for reason, count in counts.most_common(most)) + more


def status(seen: Seen, big_blind: int | None = None) -> str:
    """Return whose turn it is and the amount to call, or the outcome of a finished hand."""
    if seen.state.is_over:
        return outcome(seen, big_blind)
    betting = seen.state.betting
    if not seen.is_mine:
        return f"{seen.names[betting.to_act]} is thinking"
    to_call = betting.to_call
    return f"Your turn: {chips(to_call, big_blind)} to call." if to_call else "Your turn: you may check."


def seat_name(name: str) -> str:
    """Return the name of a seat on the page."""
    return "You" if name == PERSON else name


def agent_name(label: str, titles: Mapping[str, str]) -> str:
    """Return the name of a seat at the table, such as `Always call 2` for `always_call#2`.

    Args:
        label: label of the agent, or the person.
        titles: names of agents on the page, where they are not made from the agents' names.
    """
    name, _, copy = seat_name(label).partition("#")
    title = titles.get(name) or name[:1].upper() + name[1:].replace("_", " ")
    return f"{title} {copy}".rstrip()


def waiting(seen: Seen) -> str:
    """Return the seconds for which the agent has computed."""
    return "" if seen.thinking is None else f"{seen.thinking:.1f} s"
