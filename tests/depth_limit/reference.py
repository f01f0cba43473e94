"""The 34 leaf features once more, one state at a time, from their definitions: slow, plain, and written apart.

Cards are texts such as `Ah`; only seven-card ranks come from the evaluator, which has its own proofs.
"""

import itertools
import math
import re

import numpy as np

from poker.game.cards import RANKS, cards_text, parse_cards
from poker.game.rules import Rules
from poker.kernels.cards.ranks import category, rank_hands

DECK = [rank + suit for rank in RANKS for suit in "cdhs"]


def _ranks(rows: list[list[str]]) -> np.ndarray:
    """Ranks of hands of equal size."""
    return rank_hands(np.array([parse_cards("".join(row)) for row in rows], dtype=np.uint8)).astype(np.int64)


def _value(card: str) -> int:
    return RANKS.index(card[0])


def _is_straight(values: set[int]) -> bool:
    runs = [{12, 0, 1, 2, 3}, *({low, low + 1, low + 2, low + 3, low + 4} for low in range(9))]
    return any(run <= values for run in runs)


def _rates(hand: list[str], board: list[str]) -> tuple[float, float, float, float, float]:
    """(E[HS], E[HS^2], HS, PPot, NPot) of a hand on a flop by going through all opponents and cards to come."""
    rest = [card for card in DECK if card not in hand + board]
    opponents = list(itertools.combinations(range(len(rest)), 2))
    mine = _ranks([hand + board])[0]
    theirs = _ranks([[rest[i], rest[j], *board] for i, j in opponents])
    now = np.sign(mine - theirs)
    index = np.zeros((len(rest), len(rest)), dtype=int)
    cards = np.array([parse_cards(card)[0] for card in rest], dtype=np.uint8)
    fixed = np.array(parse_cards("".join(board)), dtype=np.uint8)
    for number, (i, j) in enumerate(opponents):
        index[i, j] = index[j, i] = number
    moved: dict[tuple[int, int], float] = {}
    strengths = []
    for i, j in opponents:
        final = np.concatenate([fixed, cards[[i, j]]])
        others = [(a, b) for a, b in opponents if not {a, b} & {i, j}]
        chosen = np.array(others)
        rows = np.concatenate([cards[chosen], np.broadcast_to(final, (len(others), 5))], axis=1)
        own = np.concatenate([np.array(parse_cards("".join(hand)), dtype=np.uint8), final])
        then = np.sign(int(rank_hands(own[None])[0]) - rank_hands(rows).astype(np.int64))
        strengths.append(np.mean((then + 1) / 2))
        before = now[index[chosen[:, 0], chosen[:, 1]]]
        for pair in itertools.product((-1, 0, 1), (-1, 0, 1)):
            moved[pair] = moved.get(pair, 0) + float(((before == pair[0]) & (then == pair[1])).sum())
    behind, tied, ahead = (sum(moved[state, then] for then in (-1, 0, 1)) for state in (-1, 0, 1))
    positive = (moved[-1, 1] + moved[-1, 0] / 2 + moved[0, 1] / 2) / max(behind + tied / 2, 1)
    negative = (moved[1, -1] + moved[1, 0] / 2 + moved[0, -1] / 2) / max(ahead + tied / 2, 1)
    return (
        float(np.mean(strengths)),
        float(np.mean(np.square(strengths))),
        float(np.mean((now + 1) / 2)),
        positive,
        negative,
    )


def shape(hand: list[str], board: list[str]) -> list[float]:
    """Features 6 to 11 of a hand."""
    cards = hand + board
    made = int(category(int(_ranks([cards])[0]))) if board else int(_value(hand[0]) == _value(hand[1]))
    suited = max(sum(card[1] == own[1] for card in cards) for own in hand)
    values = {_value(card) for card in cards}
    outs = 0
    if not _is_straight(values):
        outs = sum(_is_straight(values | {_value(card)}) for card in DECK if card not in cards)
    high, low = sorted((_value(card) for card in hand), reverse=True)
    over = sum(all(_value(own) > _value(card) for card in board) for own in hand)
    return [made / 8, suited / 5, outs / 8, high / 12, low / 12, over / 2]


def texture(board: list[str]) -> list[float]:
    """Features 31 to 34."""
    if not board:
        return [0.0, 0.0, 0.0, 0.0]
    values = [_value(card) for card in board]
    repeats = sorted((values.count(value) for value in set(values)), reverse=True)
    pairing = {1: 0.0, 2: 0.5, 3: 1.0}[repeats[0]]
    suits = max(sum(card[1] == suit for card in board) for suit in "cdhs")
    windows = [{12, 0, 1, 2, 3}, *({low + k for k in range(5)} for low in range(9))]
    straights = sum(len(window & set(values)) >= 3 for window in windows)
    return [pairing, suits / 5, straights / 10, max(values) / 12]


def betting(rules: Rules, text: str, own: int) -> list[float]:
    """Features 25 to 30 from the ACPC betting string of a no-limit hand whose last round is over."""
    chips = list(rules.blinds)
    rounds = text.rstrip("/").split("/")
    bets: list[list[int]] = []
    for street, round_text in enumerate(rounds):
        seat = rules.first_player[street]
        bets.append([])
        for letter, total in re.findall(r"([cr])(\d*)", round_text):
            if letter == "r":
                chips[seat] = int(total)
                bets[-1].append(seat)
            else:
                chips[seat] = max(chips)
            seat = 1 - seat
    pot = sum(chips)
    behind = min(rules.stacks[0] - chips[0], rules.stacks[1] - chips[1])
    last = 0 if not bets[-1] else 1 if bets[-1][-1] == own else -1
    first = float(rules.first_player[len(rounds)] == own)
    earlier = sum(len(street) for street in bets[:-1])
    return [pot / (pot + 2 * behind), math.log2(1 + behind / pot) / 8, first, last, len(bets[-1]) / 4, earlier / 8]


def pair(own: list[str], opp: list[str], board: list[str]) -> list[float]:
    """Features 23 and 24 on a flop."""
    rest = [card for card in DECK if card not in own + opp + board]
    runs = list(itertools.combinations(rest, 2))
    mine = _ranks([own + board + list(run) for run in runs])
    theirs = _ranks([opp + board + list(run) for run in runs])
    now = np.sign(_ranks([own + board])[0] - _ranks([opp + board])[0])
    return [float(np.mean((np.sign(mine - theirs) + 1) / 2)), float(now + 1) / 2]


def flop_state(rules: Rules, board: tuple[int, ...], text: str, own: int, hands: tuple[int, ...]) -> list[float]:
    """[34] of one flop state; `hands` are the cards of own and of opp, four in all."""
    on_board, cards = texts(board), texts(hands)
    own_hand, opp_hand = cards[:2], cards[2:]
    return [
        *_rates(own_hand, on_board),
        *shape(own_hand, on_board),
        *_rates(opp_hand, on_board),
        *shape(opp_hand, on_board),
        *pair(own_hand, opp_hand, on_board),
        *betting(rules, text, own),
        *texture(on_board),
    ]


def texts(cards: tuple[int, ...]) -> list[str]:
    text = cards_text(cards)
    return [text[at : at + 2] for at in range(0, len(text), 2)]
