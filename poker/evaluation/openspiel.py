"""Average strategies of Kuhn and Leduc poker as OpenSpiel policies, for an independent check of exploitability.

OpenSpiel is an optional dependency. Its cards count like ours: Kuhn 0..2, Leduc rank * 2 + suit.
"""

from typing import Any

from poker.errors import PokernetsError
from poker.rules import CALL, FOLD
from poker.solvers.vector import VectorSolver

GAMES = {"kuhn": "kuhn_poker", "leduc": "leduc_poker"}


def tabular_policy(solver: VectorSolver) -> Any:
    """The average strategy as `open_spiel.python.policy.TabularPolicy`, state by state."""
    try:
        import pyspiel  # noqa: PLC0415
        from open_spiel.python import policy as openspiel_policy  # noqa: PLC0415
    except ImportError as error:
        raise PokernetsError("OpenSpiel is not installed: pip install open_spiel") from error
    name = solver.game.rules.name
    if name not in GAMES:
        raise PokernetsError(f"no OpenSpiel game for `{name}`: there are {', '.join(GAMES)}")
    game = pyspiel.load_game(GAMES[name])
    table = openspiel_policy.TabularPolicy(game)
    for key, row in table.state_lookup.items():
        state = table.states[row]
        table.policy_for_key(key)[:] = _probabilities(solver, state, game.num_distinct_actions())
    return table


def _probabilities(solver: VectorSolver, state: Any, num_actions: int) -> list[float]:
    """OpenSpiel's action probabilities at `state` for the hand that its player holds there."""
    cards: list[int] = []
    actions: list[int] = []
    replayed = state.get_game().new_initial_state()
    for action in state.history():
        if replayed.is_chance_node():
            cards.append(action)
        else:
            actions.append(_action(solver, actions, action, replayed))
        replayed.apply_action(action)
    tree = solver.game.tree
    node = tree.find(actions)
    hand, board = cards[state.current_player()], tuple(cards[2:])
    ours = solver.strategy(node, board if tree.street[node] else ())[hand]
    out = [0.0] * num_actions
    for theirs in state.legal_actions():
        out[theirs] = float(ours[tree.actions(node).index(_action(solver, actions, theirs, state))])
    total = sum(out)
    return [probability / total for probability in out]


def _action(solver: VectorSolver, actions: list[int], theirs: int, state: Any) -> int:
    """Our action for OpenSpiel's: Kuhn has pass 0 and bet 1, Leduc fold 0, call 1 and raise 2."""
    tree = solver.game.tree
    choices = tree.actions(tree.find(actions))
    raises = [action for action in choices if action > 0]
    if state.get_game().get_type().short_name == "kuhn_poker":
        kind = (FOLD if FOLD in choices else CALL) if theirs == 0 else (raises[0] if raises else CALL)
    else:
        kind = (FOLD, CALL, raises[0] if raises else CALL)[theirs]
    return kind
