"""An agent that plays a blueprint: it translates real bets to the blueprint's tree and samples its strategy.

Symbols: H hands, A actions.
"""

from functools import lru_cache

import numpy as np

from poker.abstraction.features import hand_features
from poker.abstraction.loading import game_cards, load_abstraction
from poker.agents.base import Agent
from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules, rules_from
from poker.game.state import HandState, Policy
from poker.kernels.types import Board
from poker.solvers.best_response.public import columns
from poker.solvers.blueprint import KIND, Blueprint
from poker.store.artifacts import artifact_exists, open_artifact, refuses_by_name
from poker.store.entropy import drawn_seed
from poker.tree.translation import HistoryTranslator

_UNMET_RAISES = 3


@lru_cache(maxsize=2)
def load_blueprint(blueprint: str, abstraction: str) -> Blueprint:
    """Load a blueprint with the abstraction that it was trained on.

    Args:
        blueprint: path of the blueprint.
        abstraction: path of the abstraction; small games need none.

    Raises:
        PokernetsError: an artifact is missing, or the two do not match.
    """
    if not artifact_exists(blueprint) and not artifact_exists(abstraction):
        load_abstraction(abstraction)  # raises an error that says how to train it
    return Blueprint.load(blueprint, game_cards(_rules(blueprint), abstraction))


@refuses_by_name(KIND)
def _rules(blueprint: str) -> Rules:
    return rules_from(open_artifact(blueprint, KIND).config["rules"])


class BlueprintAgent(Agent):
    """An agent that plays a blueprint."""

    quick_policy = "blueprint"

    def __init__(self, *, name: str, blueprint: Blueprint, translation_seed: int | None) -> None:
        """Prepare the translation of bets.

        Args:
            translation_seed: seed that decides the translation of bets outside the tree; None for a random one.
        """
        super().__init__(name)
        self.blueprint = blueprint
        self._translator = HistoryTranslator(blueprint.tree, translation_seed)
        self.reset(drawn_seed(translation_seed))

    def check_game(self, game: Rules) -> None:
        """Check that the agent can play a game.

        Raises:
            PokernetsError: the blueprint was trained for another game.
        """
        self.blueprint.rules.must_fit(game, f"the blueprint that `{self.name}` plays")

    def policy(self, state: HandState) -> Policy:
        """Return the strategy of the player to act.

        Args:
            state: a public state.

        Returns:
            Legal actions and probabilities float32 [H, A].
        """
        return blueprint_policy(self.blueprint, self._translator, state.betting, state.board)


def blueprint_policy(blueprint: Blueprint, translator: HistoryTranslator, betting: Betting, board: Board) -> Policy:
    """Return the blueprint's strategy for real betting.

    If the hand in the tree has diverged from the real one (`HistoryTranslator.node`), every hand calls heads-up. At
    larger tables, where this is common, hands call by `pot_odds_policy`. The same holds for a player who has yet to act
    after three raises before the flop, because training rarely reaches such states.

    Args:
        translator: translator of bets.

    Returns:
        Legal actions without repeats, and probabilities float32 [H, A].
    """
    node = translator.node(betting)
    if betting.rules.num_players > 2:
        raises = 0 if betting.street or betting.to_act in betting.actors[0] else betting.num_raises
        if node is None or raises >= _UNMET_RAISES:
            return pot_odds_policy(betting, board)
    if node is None:
        return (CALL,), np.ones((blueprint.rules.num_hands, 1), dtype=np.float32)
    meanings = translator.real_actions(node, betting)
    actions = tuple(sorted(set(meanings)))
    return actions, columns((meanings, blueprint.probs(node, board)), actions)


def pot_odds_policy(betting: Betting, board: Board) -> Policy:
    """Return a policy that never raises: check, or call with hands that are good enough for the pot odds.

    A hand calls if its equity against one more opponent than there are exceeds the pot odds.

    Returns:
        Actions and probabilities float32 [H, A].
    """
    if not betting.legal().fold:
        return (CALL,), np.ones((betting.rules.num_hands, 1), dtype=np.float32)
    price = betting.to_call / (betting.pot + betting.to_call)
    calls = hand_features(board).ehs ** betting.folded.count(False) >= price
    return (FOLD, CALL), np.stack([~calls, calls], axis=1).astype(np.float32)
