"""IRC archives made for tests: hands played at random and written down as the archive writes them."""

import io
import tarfile
from dataclasses import dataclass, field, replace

import numpy as np

from poker.game.cards import cards_text
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState


def irc_rules(players: int, single_blind: bool = False, bankroll: int = 1000) -> Rules:
    posted = (10,) if single_blind else (5, 10)
    return Rules(
        name="irc",
        num_players=players,
        betting="limit",
        blinds=posted + (0,) * (players - len(posted)),
        stacks=(bankroll,) * players,
        raise_sizes=(10, 10, 20, 20),
        max_raises=(3, 4, 4, 4),
        first_player=(len(posted) % players, 0, 0, 0),
        num_suits=4,
        num_ranks=13,
        num_hole_cards=2,
        board_cards=(0, 3, 1, 1),
    )


@dataclass
class PlayedHand:
    """A finished hand and the letters each player gets for each street."""

    state: HandState
    moves: list[tuple[int, int, bool]]
    letters: list[list[str]]
    counts: list[tuple[int, int]]


@dataclass
class Files:
    """Lines of one month by file."""

    lines: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, line: str) -> None:
        self.lines.setdefault(name, []).append(line)

    def packed(self, prefix: str = "holdem/199504") -> bytes:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for name, lines in self.lines.items():
                data = ("\n".join(lines) + "\n").encode()
                member = tarfile.TarInfo(f"{prefix}/{name}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        return buffer.getvalue()


def play_hand(rules: Rules, generator: np.random.Generator, quitting: float = 0.0) -> PlayedHand:
    """Random play; a player to act quits with probability `quitting`, in turn."""
    state = HandState.deal(rules, generator)
    letters = [["" for _ in range(4)] for _ in range(rules.num_players)]
    for player, blind in enumerate(rules.blinds):
        letters[player][0] += "B" if blind else ""
    hand = PlayedHand(state, [], letters, [(0, 0)] * 4)
    while not hand.state.is_over:
        _step(hand, generator, quitting)
    betting = hand.state.betting
    hand.counts[3] = (betting.folded.count(False), betting.pot)
    return hand


def _step(hand: PlayedHand, generator: np.random.Generator, quitting: float) -> None:
    betting = hand.state.betting
    player, legal = betting.to_act, betting.legal()
    draw = generator.random()
    if draw < quitting:
        letter, action, after = "Q", FOLD, betting.leave(player)
    elif draw < quitting + 0.2 and legal.fold:
        letter, action, after = "f", FOLD, betting.apply(FOLD)
    elif draw < quitting + 0.45 and legal.max_raise:
        action = legal.max_raise
        letter, after = ("r" if betting.to_call or not betting.street else "b"), betting.apply(action)
    else:
        letter, action, after = ("c" if betting.to_call else "k"), CALL, betting.apply(CALL)
    allin = after.committed[player] == betting.rules.stacks[player] != betting.committed[player]
    hand.letters[player][betting.street] += letter + ("A" if allin else "")
    hand.moves.append((player, action, letter == "Q"))
    if after.street > betting.street and not after.is_over:
        hand.counts[betting.street] = (after.folded.count(False), after.pot)
    hand.state = replace(hand.state, betting=after)


def write_hand(files: Files, hand: PlayedHand, stamp: int, names: list[str]) -> None:
    """Append the lines of one hand."""
    state, rules = hand.state, hand.state.rules
    players = rules.num_players
    counts = " ".join(f"{count}/{pot}" for count, pot in hand.counts)
    files.add("hdb", f"{stamp}  3  {stamp % 1000}  {players}  {counts}  {_spaced(state.runout)}")
    files.add("hroster", f"{stamp}  {players}  {' '.join(names)}")
    won = _won(state)
    alive = [not out for out in state.betting.folded]
    for player, name in enumerate(names):
        streets = " ".join(text or "-" for text in hand.letters[player])
        cards = _spaced(state.hole_cards[player]) if alive[player] and sum(alive) > 1 else ""
        numbers = f"{rules.stacks[player]} {state.betting.committed[player]} {won[player]}"
        files.add(f"pdb/pdb.{name}", f"{name}  {stamp}  {players}  {player + 1}  {streets}  {numbers}  {cards}")


def _won(state: HandState) -> list[int]:
    betting = state.betting
    if betting.folded.count(False) == 1:
        return [0 if out else betting.pot for out in betting.folded]
    return [net + chips for net, chips in zip(state.payoffs(), betting.committed, strict=True)]


def _spaced(cards: tuple[int, ...]) -> str:
    text = cards_text(cards)
    return " ".join(text[at : at + 2] for at in range(0, len(text), 2))
