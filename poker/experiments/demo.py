"""`evaluate=demo`: three short tables on the value of solving, of learning at the table and of trained nets.

1. A local best response picks the bet that costs the agent most, including sizes that the blueprint does not have. The
   blueprint translates such bets. The agent solves with the actual bet.
2. Agents that learn their opponent play an opponent with a leak. One starts from nothing, another from the opponent
   net's prediction of unseen players. The same agent without learning plays the same cards.
3. The held-out loss of a net lies between the loss of the best constant, which has learned nothing, and the loss of a
   perfect net, if that is known. A perfect net has a loss because the labels of rollouts are noisy.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from poker.agents.local_best_response import LbrActions
from poker.evaluation.aivat.value_functions import ValueFunctionSpec
from poker.evaluation.matches.match import WIDTH, MatchSettings
from poker.evaluation.matches.match import run as run_match
from poker.evaluation.matches.match_results import MatchResults
from poker.evaluation.matches.results import SHORT
from poker.game.rules import Rules
from poker.play.lineup import AgentSpec
from poker.report import Report, Section, Table, Text
from poker.run.parallel import Cluster
from poker.run.progress import Console
from poker.store.artifacts import fingerprint_of, open_artifact


def run(
    *,
    game: Rules,
    agents: Sequence[AgentSpec],
    adversary: Mapping[str, LbrActions],
    answering: Sequence[str],
    answering_hands: int,
    learning: Sequence[str],
    leaky: str,
    learning_hands: int,
    leaf_net: str,
    opponent_nets: Mapping[str, str],
    session: int,
    seed: int,
    aivat: bool,
    fresh: bool,
    fallback: AgentSpec | None,
    values: ValueFunctionSpec | None,
    cluster: Cluster,
    out: str,
) -> dict[str, MatchResults]:
    """Play both matches as far as no results are stored, read the losses of training, and print the tables.

    Args:
        agents: specifications of all agents.
        adversary: actions of each local best response, by name.
        answering: names of the agents that play each adversary.
        answering_hands: number of hands of those matches.
        learning: names of the agents that play the leaky agent.
        leaky: name of the leaky agent.
        learning_hands: number of hands of those matches.
        leaf_net: path of the leaf net.
        opponent_nets: paths of opponent nets, by the name to print.
        session: deals per session.
        seed: seed of the deals.
        aivat: whether to estimate by AIVAT.
        fresh: whether to ignore stored results.
        fallback: agent that answers bets for AIVAT, see `MatchAivat`.
        values: value function of AIVAT, see `MatchAivat`.
        out: folder of the results.

    Returns:
        Results of the two matches, as `off_tree` and `learning`.
    """
    trained = {"leaf net, Huber loss in pots": open_artifact(leaf_net, "leaf_net")}
    for name, path in opponent_nets.items():
        trained[f"opponent net, {name}, log-loss"] = open_artifact(path, "opponent_net")
    specs = {spec.name: spec for spec in agents}
    match = partial(run_match, game=game, fallback=fallback, values=values, cluster=cluster, verbose=False)
    answers = match(
        agents=[specs[name] for name in answering],
        adversary=adversary,
        adversaries=list(adversary),
        settings=MatchSettings(hands=answering_hands, seed=seed, aivat=aivat, fresh=fresh),
        out=f"{out}/lbr",
    )
    learned = match(
        agents=[specs[name] for name in (*learning, leaky)],
        settings=MatchSettings(
            hands=learning_hands,
            session=session,
            seed=seed,
            aivat=aivat,
            fresh=fresh,
            independent="deal",
            lineups=[[name, leaky] for name in learning],
        ),
        out=f"{out}/matches",
    )
    losses = {name: _losses(net.counts) for name, net in trained.items()}
    sections: list[Section] = [
        _won(answers, "1. Unknown bets", "adversary"),
        Text(
            "The adversary knows its opponent's policy. The blueprint translates a bet to a size that it knows, which"
            " costs it; the agent solves with the actual bet."
        ),
        _won(learned, "2. A player with a leak", "agent"),
        Text(
            f"All play the same cards against {leaky}. The first two learn how it plays as the hands go by, one from"
            " what the opponent net says of unseen players, the other from nothing."
        ),
        _learned(losses),
        Text(
            "Learned is the share of the way from the best constant to a perfect net, whose loss is the noise of the"
            " labels; for actions of players who mix it is not known."
        ),
    ]
    if any(result.is_short for result in (*answers.lineups, *learned.lineups)):
        sections.append(Text(SHORT, style="yellow"))
    record = {
        "unit": answers.unit,
        "seed": answers.seed,
        "off_tree": _record(answers),
        "learning": _record(learned),
        "nets": losses,
        "settings": answers.settings | learned.settings,
        "net_fingerprints": {name: net.fingerprint for name, net in trained.items()},
    }
    folder = Path(out) / f"demo-{fingerprint_of(record)[:8]}"
    report = Report("The value of search, learning and trained nets", sections, record)
    report.write(folder, Console(width=WIDTH))
    return {"off_tree": answers, "learning": learned}


def _won(results: MatchResults, heading: str, first: str) -> Table:
    rows = [
        (result.lineup.labels[0].partition("@")[0], result.lineup.labels[1], result.best[0], result.hands)
        for result in results.lineups
    ]
    return Table((first, "wins from", f"{results.unit}/hand", "hands"), rows, heading)


def _losses(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the held-out losses of a net, of the best constant and of a perfect net, from the artifact's manifest."""
    if "validation" in counts:
        measures = {"constant": "huber_of_mean", "net": "huber", "perfect": "label_noise"}
        return {name: counts["validation"][measure] for name, measure in measures.items()}
    return {"constant": counts["test"]["log_loss_of_mean"], "net": counts["test"]["log_loss"], "perfect": None}


def _learned(losses: Mapping[str, Mapping[str, Any]]) -> Table:
    rows = []
    for name, by_model in losses.items():
        constant, net, perfect = by_model["constant"], by_model["net"], by_model["perfect"]
        share = None if perfect is None else f"{(constant - net) / (constant - perfect):.0%}"
        rows.append((name, constant, net, perfect, share))
    return Table(("held-out loss", "best constant", "net", "perfect net", "learned"), rows, "3. The nets")


def _record(results: MatchResults) -> list[dict[str, Any]]:
    return [
        {"players": result.lineup.labels, "won": result.best[0].record(), "aivat": result.has_aivat}
        | {"hands": result.hands, "sessions": len(result.sessions())}
        for result in results.lineups
    ]
