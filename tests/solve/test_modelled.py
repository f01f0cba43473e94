"""The modelled part of the opponent's range: how it follows the hand, and what solves against it do."""

from collections.abc import Sequence

import numpy as np
import pytest

from poker.abstraction.equities import check_down_chances
from poker.game.beliefs import observe_board, start_ranges
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, parse_cards
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState
from poker.kernels.types import Board, Reals
from poker.run.errors import PokernetsError
from poker.solve.mixture import ContinuationMixture
from poker.solve.modelled import Exploit, Modelled
from poker.solve.solver import DepthLimitedSolver
from poker.solve.types import NodePolicy, Request, SolverSettings
from poker.solvers.vector import realization
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.leaves import LeafValues
from poker.solvers.vector.solver import VectorSolver
from poker.tree import DepthLimit, Gadget, Kind, bet_menu, build_tree
from tests.games import HEADS_UP as RULES
from tests.given import given
from tests.opponents.fixed import FixedFrequencies
from tests.solvers.games import small_holdem

RIVER = parse_cards("2cKdAh7s9h")
MENU = bet_menu(preflop=[[]], flop=[[]], turn=[[]], river=[[1.0], []])
CALLER = FixedFrequencies(folds=0.0, raises=0.0)


def river() -> Betting:
    root = Betting.start(RULES)
    for _ in range(6):
        root = root.apply(CALL)
    return root


def first_policy(modelled: Modelled | None, safety: str = "unsafe", concede: float | None = None) -> NodePolicy:
    """Policy of the player who acts first on the river, over all hands."""
    root, ranges = river(), observe_board(start_ranges(RULES), RIVER)
    solve = DepthLimitedSolver(MENU, MENU, {}, SolverSettings("apdcfr", (100,), 1), safety)
    alternatives = None if concede is None else np.full(RULES.num_hands, concede, np.float32)
    return given(solve(Request(root, RIVER, ranges, root.to_act, (), alternatives, modelled)).at(root))


def test_frequencies_are_those_of_the_actions_there_are() -> None:
    model = FixedFrequencies(folds=0.2, raises=0.5, confidence=0.7)
    start, hands = Betting.start(RULES), np.ones((2, RULES.num_hands))
    probs, confidence = model.probs(start, [(), ()], (FOLD, CALL, 200, 300), hands)
    np.testing.assert_allclose(probs, np.tile([0.2, 0.4, 0.2, 0.2], (2, RULES.num_hands, 1)))
    assert confidence == 0.7
    np.testing.assert_allclose(model.probs(start, [(), ()], (CALL,), hands)[0], 1.0)


def test_the_modelled_part_and_the_range_follow_bayes() -> None:
    """Carry both parts as separate weights over two actions; a hand's share above p is free."""
    rng = np.random.default_rng(1)
    betting, actions, noise = Betting.start(RULES), (FOLD, CALL, 200), 0.1
    model = FixedFrequencies(folds=0.2, raises=0.5, confidence=0.8)
    modelled = given(Exploit(0.6, model).start(RULES))
    held, weights, capped = np.full(RULES.num_hands, 0.6), np.ones(RULES.num_hands), False
    for action in (200, CALL):
        free = rng.random(RULES.num_hands)
        follows = held * 0.8 * model.probs(betting, [()], actions, held[None])[0][0, :, actions.index(action)]
        taken, modelled = modelled.after(betting, (), actions, action, free, noise, weights)
        everything = follows + (weights - 0.8 * held) * free
        np.testing.assert_allclose(weights * taken, everything, rtol=1e-5)
        held, weights = (1 - noise) * follows, (1 - noise) * everything + noise / 3 * weights
        capped |= bool((held > 0.6 * weights).any())
        held = np.minimum(held, 0.6 * weights)
        np.testing.assert_allclose(modelled.share * weights, held, rtol=1e-5)
    assert capped


def test_nobody_bluffs_a_player_who_never_folds() -> None:
    chances = check_down_chances(RULES, RIVER, HOLDEM.live(RIVER).astype(float))
    bad, good = HOLDEM.live(RIVER) & (chances < 0.25), HOLDEM.live(RIVER) & (chances > 0.6) & (chances < 0.75)
    share = np.full(RULES.num_hands, 0.95)
    sound, exploiting = first_policy(None), first_policy(Modelled(Exploit(1.0, CALLER), share))
    bets = {name: each.probs[:, 1] for name, each in (("sound", sound), ("exploiting", exploiting))}
    assert bets["sound"][bad].mean() > 0.1
    assert bets["exploiting"][bad].mean() < 0.01
    assert bets["exploiting"][good].mean() > bets["sound"][good].mean() + 0.2
    doubtful = FixedFrequencies(0.0, 0.0, confidence=0.0)
    doubted = first_policy(Modelled(Exploit(1.0, doubtful), share))
    np.testing.assert_array_equal(doubted.probs, sound.probs)
    certain = first_policy(Modelled(Exploit(1.0, doubtful, by_confidence=False), share))
    np.testing.assert_array_equal(certain.probs, exploiting.probs)


def test_safe_solves_concede_the_same_values_to_the_free_part() -> None:
    """The free part's alternative is below any hand's value, so nearly all of it stays in; the modelled part always."""
    share = np.full(RULES.num_hands, 0.95)
    safe = first_policy(Modelled(Exploit(1.0, CALLER), share), "resolve", concede=-1000.0)
    unsafe = first_policy(Modelled(Exploit(1.0, CALLER), share))
    np.testing.assert_allclose(safe.probs.mean(axis=0), unsafe.probs.mean(axis=0), atol=0.02)


def test_the_model_enters_subgames_and_is_free_at_the_depth_limit() -> None:
    rules, menu, ranges = small_holdem(), bet_menu(preflop=[[1.0], ["a"]]), np.ones((2, 28), np.float32)
    root, clusters = Betting.start(rules).apply(CALL), np.zeros(28, np.int32)
    tree = build_tree(root, menu, DepthLimit(0, 3, (0,), cut_runouts=True), gadget=Gadget(0, 0))
    leaves = LeafValues(1, clusters, clusters, np.zeros((tree.num_leaf_states, 3, 1, 1), np.float32))
    game = VectorGame(tree, (), ranges, leaves, alternatives=np.zeros(28, np.float32))
    share = np.linspace(0, 1, 28)
    reach = Modelled(Exploit(1.0, FixedFrequencies(0.0, 0.5)), share).reach(game, root, 0)
    np.testing.assert_allclose(game.rows(reach, 0, 0), [np.zeros(28), share[game.hands(0)]], rtol=1e-6)
    acting = next(n for n in tree.decision_nodes.tolist() if tree.player[n] == 0 and tree.kind[n] == Kind.DECISION)
    np.testing.assert_allclose(game.rows(reach, acting, 0).sum(axis=0), share[game.hands(0)], rtol=1e-6)
    for node in np.flatnonzero(tree.kind == Kind.CHOICE).tolist():
        assert not game.rows(reach, node, 0).any()


def limited(values: np.ndarray, modelled: Modelled | None) -> VectorSolver:
    """The first round of a small game with leaf values [L, K, 1, 1] of player 1, player 0 the opponent."""
    rules, menu, clusters = small_holdem(), bet_menu(preflop=[[1.0], ["a"]]), np.zeros(28, np.int32)
    root = Betting.start(rules)
    choosers = (0,) if values.shape[1] > 1 else ()
    tree = build_tree(root, menu, DepthLimit(0, values.shape[1], choosers, cut_runouts=True))
    game = VectorGame(tree, (), np.ones((2, 28), np.float32), LeafValues(1, clusters, clusters, values))
    solver = VectorSolver(game)
    if modelled is not None:
        solver.restrict(0, modelled.reach(game, root, 0))
    solver.run(iterations=100)
    return solver


def test_a_model_that_is_a_continuation_plays_it() -> None:
    """A solve that is certain of the model equals one in which that continuation is the only one."""
    rules, model = small_holdem(), FixedFrequencies(folds=0.2, raises=0.3)
    others = [FixedFrequencies(0.5, 0.3), FixedFrequencies(0.2, 0.6)]
    forms = np.stack([np.pad(each.later(rules, 0)[0], ((1, 0), (0, 0), (0, 0))) for each in (*others, model)])
    exploit = Exploit(1.0, model, continuations=ContinuationMixture(forms))
    np.testing.assert_allclose(exploit.chosen(rules, 0, 3), [0, 0, 1], atol=1e-9)
    assert not exploit.chosen(rules, 0, 4).any()
    leaves = build_tree(
        Betting.start(rules), bet_menu(preflop=[[1.0], ["a"]]), DepthLimit(0, 3, (0,), cut_runouts=True)
    )
    values = np.random.default_rng(3).normal(0, 3, (leaves.num_leaf_states, 3, 1, 1)).astype(np.float32)
    start = exploit.start(rules)
    certain, alone = limited(values, start), limited(values[:, 2:], start)
    free = limited(values, Modelled(Exploit(1.0, model), np.ones(28)))
    apart = 0.0
    for node in alone.game.tree.decision_nodes.tolist():
        if alone.game.tree.player[node] == 1:
            there = certain.game.tree.find(alone.game.tree.path(node))
            np.testing.assert_allclose(certain.strategy(there), alone.strategy(node), atol=1e-5)
            apart = max(apart, float(np.abs(free.strategy(there) - alone.strategy(node)).max()))
    assert apart > 0.1


def test_a_model_counts_as_far_as_it_is_trusted() -> None:
    model = FixedFrequencies(folds=0.2, raises=0.3, confidence=0.8)
    forms = np.stack([np.pad(each.later(RULES, 0)[0], ((1, 0), (0, 0), (0, 0))) for each in (model, CALLER)])
    trusting = Exploit(1.0, model, continuations=ContinuationMixture(forms), trust=0.25)
    actions, hands = (CALL, 200), np.ones((1, RULES.num_hands))
    assert trusting.probs(river(), [RIVER], actions, hands)[1] == pytest.approx(0.2)
    np.testing.assert_allclose(trusting.chosen(RULES, 1, 2), [0.2, 0], atol=1e-9)
    certain = Exploit(1.0, model, by_confidence=False, trust=0.0)
    assert certain.probs(river(), [RIVER], actions, hands)[1] == 1.0
    for exploit, counts in ((trusting, True), (certain, True), (Exploit(1.0, model, trust=0.0), False)):
        assert given(exploit.start(RULES)).counts == counts


def test_settings_that_cannot_be_are_refused() -> None:
    assert Exploit().start(RULES) is None
    assert Exploit(0.0, CALLER).start(RULES) is None
    with pytest.raises(PokernetsError, match=r"search\.exploit\.p must be between 0 and 1"):
        Exploit(1.5, CALLER)
    with pytest.raises(PokernetsError, match="needs a model"):
        Exploit(0.5)


class ByBoard:
    """A model that looks at the board and the range."""

    def probs(
        self, betting: Betting, boards: Sequence[Board], actions: tuple[int, ...], weights: Reals
    ) -> tuple[Reals, float]:
        by_board = np.array([sum(board) % 5 for board in boards])[:, None]
        first = 0.2 + 0.6 * by_board / 5 + 0.1 * (weights > np.mean(weights, axis=1, keepdims=True))
        probs = np.tile(((1 - first) / max(1, len(actions) - 1))[..., None], len(actions))
        probs[..., 0] = first
        return probs, 0.75

    def later(self, rules: Rules, street: int) -> tuple[Reals, float]:
        raise NotImplementedError

    def after(self, hand: HandState, player: int) -> "ByBoard":
        return self


def test_the_modelled_part_is_followed_from_board_to_board(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare with a product along each line, on more boards than are walked side by side."""
    monkeypatch.setattr(realization, "_BOARDS_AT_ONCE", 5)
    rules, player = small_holdem(), 1
    root = Betting.start(rules)
    game = VectorGame(build_tree(root, bet_menu(preflop=[[1.0], []], flop=[[1.0], []])), isomorphism=False)
    tree, share = game.tree, np.linspace(0.1, 0.9, rules.num_hands)
    reach = Modelled(Exploit(1.0, ByBoard()), share).reach(game, root, player)

    def followed(node: int, board: tuple[int, ...]) -> Reals:
        """[H] weights at a node, as far as the board goes."""
        above = int(tree.parent[node])
        if above < 0:
            return np.asarray(share * game.ranges[player], np.float32)
        weights = followed(above, board[: rules.board_sizes[int(tree.street[above])]])
        if tree.player[above] != player or tree.kind[above] != Kind.DECISION:
            return weights
        actions, seen = tree.actions(above), board[: rules.board_sizes[int(tree.street[above])]]
        live = np.where(rules.space.live(seen), weights, 0)
        (probs,), sure = ByBoard().probs(tree.betting(above, root), [seen], actions, weights[None])
        return np.asarray(sure * probs[:, actions.index(int(tree.action[node]))] * live, np.float32)

    assert len(game.on(1)) > 5
    compared = 0
    for node in tree.decision_nodes.tolist():
        if tree.player[node] == player and tree.kind[node] == Kind.DECISION:
            for board in game.on(int(tree.street[node])):
                cards, hands = game.boards.cards[board], game.hands(player, board)
                for child, row in zip(tree.children(node), game.rows(reach, node, board), strict=True):
                    np.testing.assert_allclose(row, followed(child, cards)[hands], rtol=1e-6)
                compared += 1
    assert compared > 64
