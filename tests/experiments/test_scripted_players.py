import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from poker.agents.all_in import AllInPlayer
from poker.agents.simple import AlwaysCall, AlwaysRaise
from poker.evaluation.matches.match import MatchSettings
from poker.evaluation.matches.match_results import MatchResults
from poker.experiments.scripted_players import least_shortfall, run
from poker.play.lineup import AgentSpec
from poker.run.errors import PokernetsError
from poker.run.parallel import LocalCluster
from tests.games import load_rules

AGENTS = [
    AgentSpec("caller", partial(AlwaysCall, name="caller"), {}),
    AgentSpec("tenth", partial(AllInPlayer, name="tenth", share=0.1), {}),
    AgentSpec("raiser", partial(AlwaysRaise, name="raiser", raises=[3, 10]), {}),
]
RULES = load_rules("holdem_nolimit_2p")
GRID = np.linspace(0, 1, 1001)


def played(out: Path, hands: int = 2, agents: Sequence[AgentSpec] = AGENTS, *, scripted: Sequence[str]) -> MatchResults:
    settings = MatchSettings(hands=hands, seed=3, aivat=False, fresh=False)
    cluster = LocalCluster(1)
    return run(game=RULES, agents=agents, scripted=scripted, settings=settings, cluster=cluster, out=str(out))


def test_what_is_won_stands_beside_what_the_best_reply_wins(tmp_path: Path) -> None:
    results = played(tmp_path, 40, scripted=["tenth", "raiser"])
    assert [result.lineup.players for result in results.lineups] == [("caller", "tenth"), ("caller", "raiser")]
    (folder,) = (tmp_path / RULES.name).glob("scripted_players-*")
    record = json.loads((folder / "results.json").read_text())
    tenth, raiser = record["results"]
    best = sum(AllInPlayer(name="tenth", share=0.1).best_reply(RULES)) / 2 * 10
    assert (tenth["agent"], tenth["against"], tenth["hands"]) == ("caller", "tenth", 40)
    assert tenth["best_reply"] == pytest.approx(best)
    assert tenth["won"] == pytest.approx(results.lineups[0].estimates()[0].mean)
    assert raiser["best_reply"] is None
    assert record["least_shortfall_of_one_strategy"] == 0


def test_who_does_not_learn_cannot_have_all_from_several() -> None:
    """The bound is that of the best weights of two players, and no calls that are tried fall short of both by less."""
    fifth, whole = gains = np.array([AllInPlayer(name="all_in", share=share).call_gains(RULES) for share in (0.2, 1)])
    best = np.maximum(gains, 0).mean(axis=1)
    bound = least_shortfall(gains)
    by_weight = [w * best[0] + (1 - w) * best[1] - np.maximum(w * fifth + (1 - w) * whole, 0).mean() for w in GRID]
    assert bound == pytest.approx(max(by_weight), rel=1e-4)
    calls = [w * fifth + (1 - w) * whole > 0 for w in GRID]
    worst = [(best - (gains * called).mean(axis=1)).max() for called in calls]
    assert bound <= min(worst) < 1.05 * bound
    assert least_shortfall(gains[:1]) == 0


def test_reports_of_other_players_are_kept_apart(tmp_path: Path) -> None:
    for scripted in ("tenth", "raiser"):
        played(tmp_path, agents=[spec for spec in AGENTS if spec.name in ("caller", scripted)], scripted=[scripted])
    assert len(list((tmp_path / RULES.name).glob("scripted_players-*"))) == 2


@pytest.mark.parametrize("scripted", [["nobody"], ["caller", "tenth", "raiser"]])
def test_scripted_players_that_leave_nothing_to_measure_are_refused(tmp_path: Path, scripted: list[str]) -> None:
    with pytest.raises(PokernetsError, match="scripted"):
        played(tmp_path, scripted=scripted)
