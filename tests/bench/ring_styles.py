"""What the blueprint wins in one seat among players of one kind, and what one that searches wins there more.

    python -m tests.bench.ring_styles --artifacts DIR --style NAME [--game NAME] [--hands 40000] [--seed 1] | tee LOG
    python -m tests.bench.ring_styles --artifacts DIR --style NAME --searched --hands 600 --seed 2 | tee LOG
    python -m tests.bench.ring_styles --artifacts DIR --style NAME --response lbr_fcpa --hands 500 | tee LOG
    python -m tests.bench.ring_styles --style NAME --logs LOG ... --out FILE

The seat holds every hand that the others' cards leave, each as likely. Where it acts its folds are paid at once, and
the others of its hands go on along one line, drawn by how many of them take it; the end pays each of them. The other
players hold cards and act as they do in a match. All is unbiased, without the luck of the seat's own cards.

Where a round begins that the searcher solves, what it wins more than the blueprint is what its strategy of the round
wins more than the blueprint's, if the blueprint plays on after it: every action of either is followed through the
round, against the same answers, each time with other cards for the others with which they act so. The hand then goes on
as searched; the sum over its rounds is what searching adds. With --response a local best response to the others, who
must have a policy, has the seat of the blueprint.
"""

import argparse
import json
from dataclasses import replace
from itertools import chain
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from conf.compose import call
from conf.help import choices, values_of
from poker.abstraction.equities import hand_ranks
from poker.agents.base import Agent, PolicyAgent, require_policy
from poker.agents.local_best_response import LocalBestResponse
from poker.agents.searching.ring import DepthLimitedRingAgent
from poker.game.cards import hand_index
from poker.game.rules import FOLD
from poker.game.state import HandState
from poker.kernels.types import Board, Floats
from poker.report.estimates import Estimate, estimate
from poker.run.atomic import write_atomically
from pokernets.agents import load_agent
from tests.bench.record import record
from tests.games import load_rules

_RUNOUTS = 24
"""Completions of the board over which an all-in is averaged."""
_PLAYED_ON = 48
"""Times that a round is played with both strategies."""
_TRIES = 400
"""Hands drawn for a player at the most, until one is found that acts so."""
_BLUEPRINT, _SEARCHED, _STREETS = "blueprint", "searched", ("flop", "turn", "river")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--artifacts", type=Path)
    parser.add_argument("--style", required=True)
    parser.add_argument("--game", default="holdem_nolimit_6p")
    parser.add_argument("--hands", type=int, default=40_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--searched", action="store_true")
    parser.add_argument("--response", choices=choices("adversaries"))
    parser.add_argument("--logs", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.logs:
        played = [json.loads(line) for log in options.logs for line in log.open()]
        row, seeds = _row(options.style, played), sorted({hand["seed"] for hand in played})
        print(json.dumps(row), flush=True)
        if options.out:
            results = record(rows=[row], game=options.game, seeds=seeds)
            write_atomically(options.out, json.dumps(results, indent=1).encode())
        return
    table = _Table(options.artifacts, options.game, options.style, options.seed, options.response)
    for number in range(options.hands):
        results = table.searched(number) if options.searched else {"all": table.blueprint(number)}
        print(
            json.dumps(
                {"of": options.response or _BLUEPRINT, "seed": options.seed, _SEARCHED: options.searched, **results}
            ),
            flush=True,
        )


def _row(style: str, played: list[dict[str, Any]]) -> dict[str, Any]:
    """What the seat wins in mbb a hand, what searching adds on each street and in all, and both together."""
    plain = [hand for hand in played if not hand[_SEARCHED]]
    added = [hand for hand in played if hand[_SEARCHED]]
    won = estimate([hand["all"] for hand in plain])
    row = {"style": style, "seat": plain[0].get("of", _BLUEPRINT), "hands": len(plain), "won": won.record()}
    if not added:
        return row
    by_street = {street: estimate([hand.get(street, 0.0) for hand in added]).record() for street in _STREETS}
    gain = estimate([sum(hand.get(street, 0.0) for street in _STREETS) for hand in added])
    searched = {"hands_searched": len(added), **by_street, "added": gain.record()}
    return {**row, **searched, "searcher": _sum(won, gain).record()}


def _sum(one: Estimate, other: Estimate) -> Estimate:
    """Sum of two that are independent: the ends of its interval are as far off as the roots of the sums of squares."""
    below, above = (
        np.hypot(one.half_width - side * one.shift, other.half_width - side * other.shift) for side in (1, -1)
    )
    half_width, shift = float(above + below) / 2, float(above - below) / 2
    return replace(one, mean=one.mean + other.mean, half_width=half_width, shift=shift)


class _Table:
    """Hands of one seat and others of one kind; what the seat wins is in mbb."""

    def __init__(self, artifacts: Path, game: str, style: str, seed: int, response: str | None) -> None:
        searcher, blueprint, self._other = (
            load_agent(artifacts, name, game=game, seed=seed).agent
            for name in ("depth_limited_ring", _BLUEPRINT, style)
        )
        assert isinstance(searcher, DepthLimitedRingAgent)
        self._searcher, self._blueprint = searcher, require_policy(blueprint, "this")
        if response is not None:
            actions = call(values_of("adversaries", response))
            self._blueprint = LocalBestResponse(
                name=response, game=load_rules(game), opponent=self._other, actions=actions
            )
        self._rules, self._rng = load_rules(game), np.random.default_rng(seed)
        self._other.reset(seed)
        assert len(set(self._rules.stacks)) == 1, "side pots are not paid"

    def blueprint(self, number: int) -> float:
        """What the blueprint wins in hand `number`, in the seat that it is to have then."""
        seat = _Seat(HandState.deal(self._rules, self._rng), number % self._rules.num_players, self._other, self._rng)
        return seat.to_the_end(seat.dealt, seat.every, self._blueprint) * 1000 / self._rules.big_blind

    def searched(self, number: int) -> dict[str, float]:
        """What searching adds in the hand, by street."""
        seat = _Seat(HandState.deal(self._rules, self._rng), number % self._rules.num_players, self._other, self._rng)
        state, reach, gains = seat.dealt, seat.every, dict[str, float]()
        while not state.is_over:
            if state.street and not state.betting.actions[state.street] and self._searcher.root(state.betting):
                both, street = (self._searcher, self._blueprint), state.street
                played = [seat.round(street, seat.redrawn(state), (reach, reach), both) for _ in range(_PLAYED_ON)]
                gain = sum(played) / _PLAYED_ON * 1000 / self._rules.big_blind
                gains[_STREETS[street - 1]] = gain
            if state.to_act != seat.own:
                state = seat.answered(state)
                continue
            _, going = seat.moves(state, reach, self._searcher)
            if not going:
                break
            action, reach = seat.one(state, going)
            state = state.apply(action)
        return gains


class _Seat:
    """The seat `own` of a dealt hand, which holds any hand that the cards of the others leave.

    A reach [H] holds the seat's chances to act so, over the chance that the line was drawn.
    """

    def __init__(self, dealt: HandState, own: int, others: Agent, rng: np.random.Generator) -> None:
        self.dealt, self.own, self._others, self._rng, self._rules = dealt, own, others, rng, dealt.rules
        self.every = np.ones(self._rules.num_hands)

    def to_the_end(self, state: HandState, reach: Floats, agent: PolicyAgent) -> float:
        """Chips that hands of `reach` win if `agent` plays on."""
        chips = 0.0
        while not state.is_over:
            if state.to_act != self.own:
                state = self.answered(state)
                continue
            folded, going = self.moves(state, reach, agent)
            chips += folded
            if not going:
                return chips
            action, reach = self.one(state, going)
            state = state.apply(action)
        return chips + self._won(state, reach)

    def round(
        self, street: int, state: HandState, reach: tuple[Floats, Floats], agents: tuple[PolicyAgent, PolicyAgent]
    ) -> float:
        """Chips that the first agent wins more than the second, if the second plays after `street` anyway."""
        while not state.is_over and state.street == street and state.to_act != self.own:
            state = self.answered(state)
        if state.is_over or state.street != street:
            return self.to_the_end(state, reach[0] - reach[1], agents[1])
        (folded, going), (folded_too, other) = (
            self.moves(state, mine, agent) for mine, agent in zip(reach, agents, strict=True)
        )
        none = np.zeros_like(self.every)
        return (folded - folded_too) + sum(
            self.round(street, state.apply(action), (going.get(action, none), other.get(action, none)), agents)
            for action in sorted({*going, *other})
        )

    def answered(self, state: HandState) -> HandState:
        """The hand after the action of another player."""
        return state.apply(self._others.act(state.view(state.to_act)))

    def redrawn(self, state: HandState) -> HandState:
        """The hand with other cards for the players left, who act so with them, and other cards to come."""
        for player in self._left(state):
            for _ in range(_TRIES):
                held = self._others_cards(replace(state, hole_cards=_with(state.hole_cards, player, ())))
                cards = tuple(self._drawn({*held, *state.board}, self._rules.num_hole_cards))
                tried = replace(state, hole_cards=_with(state.hole_cards, player, cards))
                if self._acts_so(tried, player):
                    state = tried
                    break
        return self.dealt_anew(state, state.board)

    def _acts_so(self, state: HandState, player: int) -> bool:
        """Whether a player takes the actions of the hand, if asked again."""
        return all(
            self._others.act(replace(state, betting=before).view(player)) == action
            for before, actor, action in state.betting.turns()
            if actor == player
        )

    def dealt_anew(self, state: HandState, board: Board) -> HandState:
        """The hand with other cards to come after `board`."""
        new = self._drawn({*self._others_cards(state), *board}, self._rules.total_board_cards - len(board))
        return replace(state, runout=(*board, *new))

    def _drawn(self, taken: set[int], number: int) -> list[int]:
        left = [card for card in range(self._rules.deck_size) if card not in taken]
        drawn: list[int] = self._rng.choice(left, number, replace=False).tolist()
        return drawn

    def _others_cards(self, state: HandState) -> Board:
        return tuple(chain.from_iterable(_with(state.hole_cards, self.own, ())))

    def _left(self, state: HandState) -> list[int]:
        return [player for player, out in enumerate(state.betting.folded) if not out and player != self.own]

    def moves(self, state: HandState, reach: Floats, agent: PolicyAgent) -> tuple[float, dict[int, Floats]]:
        """Chips of the hands that fold, and the reaches after other actions that any hand takes."""
        actions, probs = agent.policy(state)
        after = {action: reach * probs[:, column] for column, action in enumerate(actions)}
        folded = after.pop(FOLD, None)
        chips = 0.0 if folded is None else -state.betting.committed[self.own] * float(self._chances(state) @ folded)
        return chips, {action: reach for action, reach in after.items() if reach.any()}

    def one(self, state: HandState, going: dict[int, Floats]) -> tuple[int, Floats]:
        """One of the actions, drawn by how many hands take it, and the reach after it."""
        chances = self._chances(state)
        masses = np.array([chances @ np.abs(reach) for reach in going.values()])
        share = masses / masses.sum() if masses.any() else np.full(len(masses), 1 / len(masses))
        drawn = int(self._rng.choice(len(masses), p=share))
        action = list(going)[drawn]
        return action, going[action] / share[drawn]

    def _chances(self, state: HandState) -> Floats:
        """[H] of holding each hand, given the cards of the others and the board."""
        cards_seen = (*self._others_cards(state), *state.board)
        return self._rules.space.live(cards_seen) / comb(
            self._rules.deck_size - len(cards_seen), self._rules.num_hole_cards
        )

    def _won(self, state: HandState, reach: Floats) -> float:
        """Chips that hands of `reach` win in a hand that is over, over completions of the board if all are all-in."""
        left = self._left(state)
        if not left:
            return state.payoffs()[self.own] * float(self._chances(state) @ reach)
        acted = max(street for street, actions in enumerate(state.betting.actions) if actions)
        board, called = state.runout[: self._rules.board_sizes[acted]], state.betting.committed[self.own]
        all_in = len(board) < self._rules.total_board_cards
        ends = [self.dealt_anew(state, board) for _ in range(_RUNOUTS)] if all_in else [state]
        pot, won = sum(state.betting.committed), 0.0
        for end in ends:
            ranks = hand_ranks(self._rules, end.runout)
            others = [ranks[hand_index(*end.hole_cards[player])] for player in left]
            best = max(others)
            share = (ranks > best) + (ranks == best) / (1 + others.count(best))
            won += float((self._chances(end) * reach) @ (pot * share - called))
        return won / len(ends)


def _with(hands: tuple[Board, ...], player: int, cards: Board) -> tuple[Board, ...]:
    return (*hands[:player], cards, *hands[player + 1 :])


if __name__ == "__main__":
    main()
