"""Nested solving: beliefs follow Bayes, other bets enter the tree, history is all that matters, time is accounted."""

import zlib
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import pytest

from poker.game.beliefs import observe_action, observe_board, start_ranges
from poker.game.betting import Betting
from poker.game.cards import parse_cards
from poker.game.rules import CALL, FOLD, Rules
from poker.kernels.types import Singles
from poker.run.errors import PokernetsError
from poker.search.nested import NestedSearch, together
from poker.solve.clock import Clock
from poker.solve.modelled import Exploit
from poker.solve.solution import RoundSolution, RoundValues
from poker.solve.solver import DepthLimitedSolver
from poker.solve.types import NodePolicy, Request, SolverSettings
from poker.tree import BetMenu, DepthLimit, Kind, bet_menu, build_tree
from tests.games import HEADS_UP as RULES
from tests.games import load_menu
from tests.given import given
from tests.opponents.fixed import FixedFrequencies

BOARD = parse_cards("2cKdAh7s9h")


class RandomRounds:
    """A round solver whose strategies are noise drawn from the root, and that stores the requests."""

    def __init__(self, menu: BetMenu, by_seat: bool = False) -> None:
        self.menu, self.by_seat = menu, by_seat
        self.requests: list[Request] = []
        self.calls: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = []

    def __call__(self, request: Request) -> RoundSolution:
        root, board, _, searcher, at_root, *_ = request
        self.requests.append(request)
        self.calls.append((root.text(), board, at_root))
        menu = self.menu
        for total in at_root:
            menu = menu.with_action(root, total)
        tree = build_tree(root, menu, DepthLimit(root.street, cut_runouts=True))
        seed = searcher if self.by_seat else at_root
        rng = np.random.default_rng(zlib.crc32(f"{root.text()}{board}{seed}".encode()))
        policies = {}
        for node in np.flatnonzero(tree.kind == Kind.DECISION):
            actions = tree.actions(int(node))
            probs = rng.dirichlet(np.ones(len(actions)), root.rules.num_hands).astype(np.float32)
            policies[tree.path(int(node))] = NodePolicy(int(tree.player[node]), actions, probs)
        return RoundSolution(root, policies, request=request)


def conceded(rounds: RandomRounds) -> list[int | None]:
    """The value of the first hand that each solve must not exceed."""
    bounds = [request.alternatives for request in rounds.requests]
    return [None if values is None else int(values[0]) for values in bounds]


def played(rules: Rules, actions: Iterable[int]) -> Betting:
    state = Betting.start(rules)
    for action in actions:
        state = state.apply(action)
    return state


def search(rules: Rules, seat: int, noise: float = 0.0, **settings: Any) -> tuple[NestedSearch, RandomRounds]:
    rounds = RandomRounds(load_menu("demo"))
    return NestedSearch(rules, seat, rounds, opponent_noise=noise, **{"remembered": 1000, **settings}), rounds


def first_raise(nested: NestedSearch, rules: Rules) -> int:
    """The least raise of the searcher's first decision."""
    return min(action for action in nested.policy(Betting.start(rules), ()).actions if action > 0)


def from_start(rounds: RandomRounds, rules: Rules, state: Betting) -> NodePolicy:
    """The policy at `state` of the round solved from the start."""
    return given(rounds(Request(Betting.start(rules), (), start_ranges(rules), 1)).at(state))


def test_own_first_decision_is_one_solve(rules: Rules) -> None:
    nested, rounds = search(rules, seat=1)
    policy = nested.policy(Betting.start(rules), ())
    assert policy.player == 1
    assert rounds.calls == [("", (), ())]
    nested.policy(Betting.start(rules), ())
    assert len(rounds.calls) == 1


def test_bet_of_another_size_is_put_into_the_tree_and_answered_by_that_solution(rules: Rules) -> None:
    nested, rounds = search(rules, seat=0)
    state = played(rules, [277])
    policy = nested.policy(state, ())
    assert rounds.calls == [("", (), (277,))]
    expected = given(rounds(Request(Betting.start(rules), (), start_ranges(rules), 0, (277,))).at(state))
    np.testing.assert_array_equal(policy.probs, expected.probs)


def test_ranges_follow_bayes_through_the_streets(rules: Rules) -> None:
    nested, rounds = search(rules, seat=1, noise=0.03)
    first = nested.policy(Betting.start(rules), ())
    raise_to = sorted(first.actions)[-2]  # the largest that is not all-in
    state = played(rules, [raise_to, CALL, CALL])
    policy = nested.policy(state, BOARD[:3])
    assert policy.player == 1
    assert [call[0] for call in rounds.calls] == ["", f"r{raise_to}c/"]
    assert rounds.calls[1][2] == ()

    ranges = observe_action(start_ranges(rules), 1, first.probability(raise_to), 0.0, len(first.actions))
    reply = from_start(rounds, rules, played(rules, [raise_to]))
    ranges = observe_action(ranges, 0, reply.probability(CALL), 0.03, len(reply.actions))
    ranges = observe_board(ranges, BOARD[:3])
    np.testing.assert_array_equal(rounds.requests[1].ranges, ranges)
    flop = played(rules, [raise_to, CALL])
    check = given(rounds(Request(flop, BOARD[:3], ranges, 1)).at(flop))
    expected = observe_action(ranges, 0, check.probability(CALL), 0.03, len(check.actions))
    np.testing.assert_array_equal(nested.belief(state, BOARD[:3]).ranges, expected)


def test_ranges_of_opponents_follow_solves_in_which_they_are_the_searcher(rules: Rules) -> None:
    """On the first `both_sides` streets, so that both searches believe what either plays."""
    for both_sides, board, actions in (
        (1, BOARD[:3], [300, CALL]),
        (2, BOARD[:4], [300, 900, CALL, CALL, 1800, CALL]),
        (1, BOARD[:4], [300, CALL, CALL, CALL]),
    ):
        state, beliefs = played(rules, actions), []
        for seat in range(2):
            rounds = RandomRounds(load_menu("demo"), by_seat=True)
            nested = NestedSearch(
                rules, seat, rounds, opponent_noise=0.0, remembered=99, follow=True, both_sides=both_sides
            )
            beliefs.append(nested.belief(state, board).ranges)
        assert np.array_equal(beliefs[0], beliefs[1]) == (both_sides == state.street)


def test_action_in_the_menu_is_followed_by_a_solve_from_the_new_state(rules: Rules) -> None:
    nested, rounds = search(rules, seat=1)
    raise_to = first_raise(nested, rules)
    reply = from_start(rounds, rules, played(rules, [raise_to]))
    again = max(action for action in reply.actions)
    rounds.calls.clear()
    nested.policy(played(rules, [raise_to, again]), ())
    assert rounds.calls == [(f"r{raise_to}r{again}", (), ())]


def test_solution_is_used_while_the_hand_is_in_it(rules: Rules) -> None:
    """Known bets are answered from the first solution with `follow`, another size from a solution that contains it."""
    nested, rounds = search(rules, seat=1, follow=True)
    raise_to = first_raise(nested, rules)
    reply = from_start(rounds, rules, played(rules, [raise_to]))
    in_solution = played(rules, [raise_to, max(reply.actions)])
    expected = from_start(rounds, rules, in_solution)
    rounds.calls.clear()
    np.testing.assert_array_equal(nested.policy(in_solution, ()).probs, expected.probs)
    assert rounds.calls == []
    nested.policy(played(rules, [raise_to, max(reply.actions) - 1]), ())
    assert rounds.calls == [(f"r{raise_to}", (), (max(reply.actions) - 1,))]


def test_the_modelled_part_moves_with_the_opponents_actions_alone(rules: Rules) -> None:
    exploit = Exploit(0.5, FixedFrequencies(folds=0.1, raises=0.7))
    nested, rounds = search(rules, seat=1, noise=0.02, exploit=exploit)
    raise_to = first_raise(nested, rules)
    reply = from_start(rounds, rules, played(rules, [raise_to]))
    nested.policy(played(rules, [raise_to, CALL]), BOARD[:3])
    first, _, second = (request.modelled for request in rounds.requests)
    assert first is not None
    assert second is not None
    np.testing.assert_allclose(first.share, 0.5)
    free = reply.probability(CALL)
    taken = 0.5 * 0.9 * 0.3 + 0.5 * free
    actions = len(reply.actions)
    share = 0.98 * 0.5 * 0.9 * 0.3 / (0.98 * taken + 0.02 / actions)
    np.testing.assert_allclose(second.share, np.minimum(share, 0.5), rtol=1e-5)
    believed = observe_board(observe_action(start_ranges(rules), 0, taken, 0.02, actions), BOARD[:3])
    np.testing.assert_allclose(rounds.requests[-1].ranges[0], believed[0], rtol=1e-5)


def test_the_opponents_actions_are_explained_to_the_last(rules: Rules) -> None:
    """Explanations come from the solutions in use when actions were taken; a fold as the first action has none."""
    rounds, exploit = RandomRounds(load_menu("demo")), Exploit(0.5, FixedFrequencies(folds=0.1, raises=0.7))

    def searching(seat: int, exploit: Exploit = exploit) -> NestedSearch:
        return NestedSearch(rules, seat, rounds, opponent_noise=0.02, remembered=1000, exploit=exploit)

    nested, line = searching(1), [300, CALL, CALL, 400]
    reply = nested.explained(played(rules, [*line, FOLD]), BOARD)
    called, all_taken = played(rules, line[:1]), played(rules, line)
    first, last = nested.belief(called, ()).known(), nested.belief(all_taken, BOARD[:3]).known()
    assert first is not None
    assert last is not None
    assert len(reply) == 3
    for each, policy, action in ((reply[0], first, CALL), (reply[2], last, FOLD)):
        np.testing.assert_array_equal(each.solution, policy.probability(action))
        np.testing.assert_allclose(each.model, {CALL: 0.9 * 0.3, FOLD: 0.1}[action])
    np.testing.assert_allclose(reply[0].weights, start_ranges(rules)[0])
    assert nested.explained(all_taken, BOARD) == reply[:2]  # the last action there is the searcher's
    assert searching(0).explained(played(rules, [FOLD]), BOARD) == ()
    assert searching(1, Exploit()).explained(played(rules, [*line, FOLD]), BOARD) == ()


def test_a_model_without_trust_is_watched_and_not_solved_against(rules: Rules) -> None:
    rounds, model = RandomRounds(load_menu("demo")), FixedFrequencies(folds=0.1, raises=0.7)
    nested = NestedSearch(rules, 1, rounds, opponent_noise=0.02, remembered=99, exploit=Exploit(0.5, model, trust=0.0))
    sound = NestedSearch(rules, 1, rounds, opponent_noise=0.02, remembered=99)
    line = played(rules, [300, CALL, CALL])
    np.testing.assert_array_equal(nested.policy(line, BOARD[:3]).probs, sound.policy(line, BOARD[:3]).probs)
    np.testing.assert_array_equal(nested.belief(line, BOARD[:3]).ranges, sound.belief(line, BOARD[:3]).ranges)
    assert all(request.modelled is None for request in rounds.requests)
    assert len(nested.explained(line.apply(400).apply(FOLD), BOARD)) == 3


def test_policy_depends_on_the_history_alone(rules: Rules) -> None:
    state = played(rules, [300, CALL, 400, 1100, CALL, CALL])
    followed, _ = search(rules, seat=1, noise=0.01)
    for count in range(7):
        partial = played(rules, [300, CALL, 400, 1100, CALL, CALL][:count])
        if partial.to_act == 1:
            followed.policy(partial, BOARD[: rules.board_sizes[partial.street]])
    fresh, _ = search(rules, seat=1, noise=0.01)
    board = BOARD[:4]
    np.testing.assert_array_equal(fresh.policy(state, board).probs, followed.policy(state, board).probs)


def test_policy_does_not_depend_on_the_number_of_stored_beliefs(rules: Rules) -> None:
    state, board = played(rules, [300, CALL, 400, 1100, CALL, CALL]), BOARD[:4]
    long, _ = search(rules, seat=1)
    short, _ = search(rules, seat=1, remembered=1)
    np.testing.assert_array_equal(short.policy(state, board).probs, long.policy(state, board).probs)


def test_states_before_the_flop_are_not_forgotten_for_later_ones(rules: Rules) -> None:
    nested, rounds = search(rules, seat=0, remembered=2)
    states = [played(rules, [277]), played(rules, [345])]
    for board in (BOARD[:3], BOARD[1:4], BOARD[2:]):
        for state in states:
            nested.policy(state, ())
            nested.policy(state.apply(CALL), board)
    assert [call[0] for call in rounds.calls if not call[1]] == ["", ""]
    assert sum(bool(call[1]) for call in rounds.calls) == 6


def test_states_searched_together_have_the_policies_that_they_have_alone(rules: Rules) -> None:
    """Hands of both seats that share their first rounds: every round is solved once."""
    states = [
        (played(rules, [300, CALL, 400]), BOARD[:3]),
        (played(rules, [300, CALL, 400, 1100, CALL, CALL]), BOARD[:4]),
        (played(rules, [300, CALL, CALL]), BOARD[:3]),
        (played(rules, [300, CALL, CALL]), BOARD[1:4]),
        (played(rules, [CALL, CALL]), BOARD[:3]),
    ]
    alone, rounds = [search(rules, seat)[0] for seat in range(2)], RandomRounds(load_menu("demo"))
    by_seat = [NestedSearch(rules, seat, rounds, opponent_noise=0.0, remembered=1000) for seat in range(2)]
    waves = []

    def solve(requests: Sequence[Request]) -> list[RoundSolution]:
        waves.append(len(requests))
        return [rounds(request) for request in requests]

    searches = [by_seat[betting.to_act].searched_policy(betting, board) for betting, board in states]
    policies = together(searches, solve)
    for (betting, board), policy in zip(states, policies, strict=True):
        np.testing.assert_array_equal(policy.probs, alone[betting.to_act].policy(betting, board).probs)
    assert len(rounds.calls) == sum(waves)
    assert waves[0] == 2  # before the flop, one for each seat
    assert len(waves) < len(rounds.calls)
    assert together([], solve) == []


class NumberedRounds(RandomRounds):
    """Solutions that concede to every hand the number of the solve and of the actions since its root."""

    def __call__(self, request: Request) -> RoundSolution:
        solution = super().__call__(request)
        return _Numbered(solution.root, solution.policies, values={len(self.calls): cast(RoundValues, None)})


class _Numbered(RoundSolution):
    """A solution whose alternatives are its number and the number of actions since its root."""

    def alternatives(self, betting: Betting, board: tuple[int, ...]) -> Singles:
        assert len(board) == betting.rules.board_sizes[betting.street]
        since = sum(map(len, betting.actions)) - sum(map(len, self.root.actions))
        return np.full(betting.rules.num_hands, 10 * max(self.values) + since, np.float32)


def test_conceded_values_are_passed_to_the_next_solve(rules: Rules) -> None:
    rounds = NumberedRounds(load_menu("demo"))
    nested = NestedSearch(rules, 0, rounds, opponent_noise=0.01, remembered=1000)
    reply = nested.policy(played(rules, [277]), ())
    assert conceded(rounds) == [None]  # the first of the hand
    again = min(action for action in reply.actions if action > 0)
    nested.policy(played(rules, [277, again, CALL]), BOARD[:3])  # a known call, then the flop, where seat 0 acts first
    assert rounds.calls[-1][0] == f"r277r{again}c/"
    assert conceded(rounds) == [None, 13]
    nested.policy(played(rules, [277, again, CALL, CALL, 5555]), BOARD[:3])  # the bet is solved from before it
    assert conceded(rounds) == [None, 13, 21]
    fresh = NumberedRounds(load_menu("demo"))
    NestedSearch(rules, 0, fresh, opponent_noise=0.01, remembered=1000).policy(
        played(rules, [277, again, CALL, CALL, 5555]), BOARD[:3]
    )
    assert conceded(fresh) == conceded(rounds)


def test_solutions_before_an_action_know_nothing_of_it(rules: Rules) -> None:
    nested, rounds = search(rules, seat=0)
    start = Betting.start(rules)
    odd = nested.policy(played(rules, [277]), ())
    nested.keep_solutions(forget=True)
    before = nested.solution(start, ())
    assert rounds.calls == [("", (), (277,)), ("", (), ())]
    assert 277 not in before.policies[()].actions
    np.testing.assert_array_equal(nested.policy(played(rules, [277]), ()).probs, odd.probs)
    assert nested.solution(start, ()) is before
    assert rounds.calls[2:] == [("", (), (277,))]
    offered = played(rules, [max(before.policies[()].actions)])
    assert nested.policy(offered, ()) is before.at(offered)
    assert nested.solution(offered, ()) is before
    assert len(rounds.calls) == 3


RIVER = parse_cards("2cKdAh7s9h")
MENU = bet_menu(preflop=[[]], flop=[[]], turn=[[]], river=[[1.0], []])


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_without_settings_there_is_no_limit() -> None:
    clock = Clock()
    clock.start_hand()
    with clock.decision():
        assert clock.for_solve() is None
    assert not clock.limited


def test_a_decision_ends_in_time_however_many_solves_it_needs() -> None:
    time = Time()
    clock = Clock(per_decision=10.0, now=time)
    assert clock.for_solve() == pytest.approx(7.0)
    for _ in range(3):
        with clock.decision():
            end = time.now + 10.0
            for _ in range(8):
                seconds = given(clock.for_solve())
                time.now += seconds
            assert end - 0.02 < time.now < end + 0.08


def test_hands_take_no_more_than_their_seconds_on_average() -> None:
    time, rng = Time(), np.random.default_rng(5)
    clock, longest, begun = Clock(per_hand=7.0, now=time), 0.0, time.now
    for hand in range(400):
        clock.start_hand()
        for _ in range(rng.integers(0, 9)):
            before = time.now
            with clock.decision():
                for _ in range(rng.integers(1, 3)):
                    seconds = given(clock.for_solve())
                    time.now += seconds
            longest = max(longest, time.now - before)
        assert time.now - begun <= 7.0 * (hand + 1)
    assert time.now - begun > 0.8 * 7.0 * 400
    assert 5.0 < longest <= 21.0


def test_later_decisions_save_the_time_of_a_slow_one() -> None:
    time = Time()
    clock = Clock(per_hand=5.0, now=time)
    clock.start_hand()
    with clock.decision():
        time.now += 17.0
    for _ in range(2):
        clock.start_hand()
        with clock.decision():
            seconds = given(clock.for_solve())
            assert seconds < 0.1
    for _ in range(2):
        clock.start_hand()
    with clock.decision():
        assert clock.for_solve() == pytest.approx(0.7 * 8 / 3)


def test_both_time_limits_apply() -> None:
    clock = Clock(per_decision=2.0, per_hand=60.0, now=Time())
    clock.start_hand()
    with clock.decision():
        assert clock.for_solve() == pytest.approx(1.4)


def test_limits_must_be_positive() -> None:
    for decision, hand in ((0.0, None), (None, -1.0)):
        with pytest.raises(PokernetsError, match="must be positive or null"):
            Clock(decision, hand)


@pytest.mark.parametrize(("device", "limit", "rounding"), [("cpu", 1e-6, 0.0), ("torch", 1e-3, 1e-6)])
def test_a_solve_ends_when_it_is_precise_enough_or_its_time_is_up(device: str, limit: float, rounding: float) -> None:
    root = Betting.parse(RULES, "cc/cc/cc/")
    ranges = observe_board(start_ranges(RULES), RIVER)
    settings = SolverSettings("apdcfr", (1,), 1, exploitability=limit, device=device)

    def solved(seconds: float) -> tuple[int, float]:
        solve = DepthLimitedSolver(MENU, MENU, {}, settings, "unsafe", Clock(per_decision=seconds))
        solver = solve.solved(Request(root, RIVER, ranges, 0))
        return solver.iterations, solver.exploitability() / root.pot

    iterations, precise = solved(3600.0)
    assert precise <= limit + rounding
    few, rough = solved(1e-9)
    assert few < iterations < 10_000
    assert rough > limit
