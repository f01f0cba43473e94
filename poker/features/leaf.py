"""The 34 inputs of the leaf net: a heads-up hold'em state whose betting round is over, the next card not yet dealt.

`own` is the player whose value is predicted, `opp` the other. [DLS] gives the number of inputs and not the list: this
list is ours. Eleven describe own's hand, the same eleven opp's, two the pair of hands, ten what both players see.
"""

from poker.artifacts import fingerprint_of

VERSION = 1
"""Raised whenever a feature's definition changes under an unchanged name."""

HAND_NAMES = (
    "equity",  # E[HS]: against a uniform hand, cards to come enumerated
    "equity_squared",  # E[HS^2]
    "strength",  # HS on the present board
    "positive_potential",  # PPot [POKI]
    "negative_potential",  # NPot [POKI]
    "category",  # made hand, high card 0 .. straight flush 8, / 8
    "flush_progress",  # cards of the best suit that has a hole card, / 5
    "straight_outs",  # unseen cards that make a straight, 0 when there is one, / 8
    "high_rank",  # of the two hole cards, / 12
    "low_rank",  # / 12
    "overcards",  # hole cards above every board card, / 2
)
PAIR_NAMES = (
    "pair_equity",  # exact all-in equity of own's hand against opp's
    "ahead",  # on the present board: 1 ahead, 0.5 tied, 0 behind
)
PUBLIC_NAMES = (
    "pot_share",  # pot / (pot + 2 * stack behind)
    "stack_to_pot",  # log2(1 + stack behind / pot) / 8
    "own_acts_first",  # in the next round
    "last_aggressor",  # of the round that ended: own 1, nobody 0, opp -1
    "round_bets",  # bets and raises of the round that ended, blinds excluded, / 4
    "earlier_bets",  # those of the rounds before it, / 8
    "board_pairing",  # 0 none, 0.5 one pair, 1 trips or two pair
    "board_suit",  # most board cards of one suit / 5
    "board_windows",  # five-rank windows holding three or more board ranks / 10
    "board_high_rank",  # / 12
)
NAMES = (
    *(f"own_{name}" for name in HAND_NAMES),
    *(f"opp_{name}" for name in HAND_NAMES),
    *PAIR_NAMES,
    *PUBLIC_NAMES,
)
SIZE = len(NAMES)

CONTINUATIONS = ("blueprint", "fold", "call", "raise")
"""The opponent's choices at the depth limit, in the order of labels and outputs: the blueprint and its biased forms."""

TARGET = "expected chips to own from here on under each continuation, minus half the pot, in pots"


def hash_of(names: tuple[str, ...], version: int) -> str:
    """Sixteen hex digits that change with any name, their order, or the version of the definitions."""
    return fingerprint_of({"names": names, "version": version})[:16]


HASH = hash_of(NAMES, VERSION)
