"""Plays a blueprint: translates real bets to its tree and samples its strategy for the hand's bucket."""

from functools import lru_cache

import numpy as np

from poker.abstraction.features import hand_features
from poker.abstraction.loading import game_cards, load_abstraction
from poker.agents.base import SamplingAgent
from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules, rules_from
from poker.game.state import HandState, Policy
from poker.solvers.blueprint import KIND, Blueprint
from poker.store.artifacts import artifact_exists, open_artifact, refuses_by_name
from poker.store.entropy import drawn_seed
from poker.tree.translation import HistoryTranslator

_UNMET_RAISES = 3


@lru_cache(maxsize=2)
def load_blueprint(blueprint: str, abstraction: str) -> Blueprint:
    """The blueprint at one path with the abstraction, at the other, that it was trained on (small games need none)."""
    if not artifact_exists(blueprint) and not artifact_exists(abstraction):
        load_abstraction(abstraction)  # raises: it is to be made first
    return Blueprint.load(blueprint, game_cards(_rules(blueprint), abstraction))


@refuses_by_name(KIND)
def _rules(blueprint: str) -> Rules:
    return rules_from(open_artifact(blueprint, KIND).config["rules"])


class BlueprintAgent(SamplingAgent):
    """Plays `blueprint`; `translation_seed` decides how bets that its tree does not have are translated."""

    quick_policy = "blueprint"

    def __init__(self, *, name: str, blueprint: Blueprint, translation_seed: int | None) -> None:
        super().__init__(name)
        self.blueprint = blueprint
        self._translator = HistoryTranslator(blueprint.tree, translation_seed)
        self.reset(drawn_seed(translation_seed))

    def check_game(self, game: Rules) -> None:
        self.blueprint.rules.must_fit(game, f"the blueprint that `{self.name}` plays")

    def policy(self, state: HandState) -> Policy:
        return blueprint_policy(self.blueprint, self._translator, state.betting, state.board)


def blueprint_policy(
    blueprint: Blueprint, translator: HistoryTranslator, betting: Betting, board: tuple[int, ...]
) -> Policy:
    """Strategy of the blueprint at `betting`: legal actions without repeats, probabilities [H, A].

    Where the hand in the tree has diverged from the real one (`HistoryTranslator.node`), every hand calls heads-up; at
    larger tables, where that is no rare thing, hands call by `pot_odds_policy`. So do those of a player who has yet to
    act when three have raised before the flop: no training run meets that often enough.
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
    probs = blueprint.probs(node, board)
    merged = np.zeros((len(probs), len(actions)), dtype=np.float32)
    for column, action in enumerate(meanings):
        merged[:, actions.index(action)] += probs[:, column]
    return actions, merged


def pot_odds_policy(betting: Betting, board: tuple[int, ...]) -> Policy:
    """Check, or call with hands that would pay at a showdown against one hand more than there are; never raise."""
    if not betting.legal().fold:
        return (CALL,), np.ones((betting.rules.num_hands, 1), dtype=np.float32)
    price = betting.to_call / (betting.pot + betting.to_call)
    calls = hand_features(board).ehs ** betting.folded.count(False) >= price
    return (FOLD, CALL), np.stack([~calls, calls], axis=1).astype(np.float32)
