"""28,222 hands of a public archive in PokerStars' text: what is read agrees with sums of the texts' own amounts."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal

import pytest

from poker.formats.histories import hands_of
from tests.formats.samples import archived

_A = r"\$([\d.]+)"
_PUT = re.compile(rf"(\w+): (?:posts (?:small|big) blind|posts small & big blinds|posts the ante|calls|bets) {_A}")
_RAISE = re.compile(rf"(\w+): raises {_A} to {_A}")
_RETURNED = re.compile(rf"Uncalled bet \({_A}\) returned to (\w+)")
_COLLECTED = re.compile(rf"(\w+) collected {_A} from")
_CASHED_OUT = re.compile(r"Seat \d+: (\w+) .*\(pot not awarded as player cashed out\)")
_TOTAL = re.compile(rf"Total pot {_A}.* \| Rake {_A}")


@dataclass
class Ledger:
    """Amounts of one hand by player, added up line by line without the rules."""

    paid: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    got: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    total: Decimal = Decimal(0)
    rake: Decimal = Decimal(0)

    @classmethod
    def of(cls, block: str) -> "Ledger":
        ledger, street = cls(), defaultdict[str, Decimal](Decimal)
        for line in block.split("\n"):
            if re.match(r"\*\*\* (FLOP|TURN|RIVER)", line):
                street.clear()
            elif put := _PUT.match(line):
                ledger.paid[put[1]] += Decimal(put[2])
                if "small & big" in line:  # only the big blind of it is a bet
                    street[put[1]] += Decimal(re.findall(rf"/{_A}", block)[0])
                elif "ante" not in line and not ("small blind" in line and street):  # a late small blind is dead
                    street[put[1]] += Decimal(put[2])
            elif raised := _RAISE.match(line):
                ledger.paid[raised[1]] += Decimal(raised[3]) - street[raised[1]]
                street[raised[1]] = Decimal(raised[3])
            elif back := _RETURNED.match(line):
                ledger.paid[back[2]] -= Decimal(back[1])
            elif got := _COLLECTED.match(line):
                ledger.got[got[1]] += Decimal(got[2])
            elif away := _CASHED_OUT.match(line):
                ledger.got[away[1]] += sum(map(Decimal, re.findall(rf"won \({_A}\)", line)), Decimal(0))
            elif total := _TOTAL.match(line):
                ledger.total, ledger.rake = Decimal(total[1]), Decimal(total[2])
        return ledger


def agree(text: str) -> Counter[str]:
    """Check that every hand of a text is read with the results, pots and rakes of its lines, and count the hands."""
    hands = {hand.number: hand for hand in hands_of(text, "x")}
    blocks = [block for block in re.split(r"(?=^PokerStars )", text, flags=re.MULTILINE) if block.strip()]
    counts = Counter(hands=len(blocks), read=len(hands))
    for block in blocks:
        number = re.search(r"#(\d+):", block)
        assert number
        hand, ledger = hands[int(number[1])], Ledger.of(block)
        assert ledger.total == sum(ledger.paid.values()) == sum(ledger.got.values()) + ledger.rake, block
        net = {name: 100 * (ledger.got[name] - ledger.paid[name]) for name in hand.names}
        assert net == dict(zip(hand.names, hand.payoffs, strict=True)), block
        assert sum(hand.paid) == 100 * ledger.total
        assert hand.rake == 100 * ledger.rake
        assert set(ledger.paid) <= set(hand.names)
        counts.update({"run twice": len(hand.boards), "cashed out": "cashed out" in block})
    return counts


def test_seven_hundred_archived_hands_agree_with_their_texts() -> None:
    text = archived("pokerstars_2021-07-30_nl50_part2")
    assert agree(text[: text.index("\n\n\nPokerStars", 800_000)])["read"] > 600


@pytest.mark.slow
def test_all_archived_hands_agree_with_their_texts() -> None:
    counts = agree(archived("pokerstars"))
    assert (counts["hands"], counts["read"], counts["run twice"]) == (28_222, 28_222, 48)
    assert counts["cashed out"] > 150
