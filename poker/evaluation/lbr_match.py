"""`evaluate=lbr`: matches of local best responses against agents, a lower bound on how exploitable each agent is.

The adversary knows its opponent's policy, so within a process both use one agent object: what was solved for a decision
at the table is not solved again for the adversary's picture of the range. Both have policies, so AIVAT narrows the
intervals a lot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial

from poker.agents.base import Agent
from poker.errors import PokernetsError
from poker.evaluation.lbr import LbrActions, LocalBestResponse
from poker.evaluation.match import run as run_match
from poker.evaluation.policies import require_policy
from poker.evaluation.results import MatchResults
from poker.evaluation.table import AgentSpec
from poker.evaluation.workers import SharedAgent
from poker.rules import Rules


def run(
    *,
    game: Rules,
    agents: Sequence[AgentSpec],
    adversary: Mapping[str, LbrActions],
    adversaries: Sequence[str],
    hands: int,
    seed: int,
    half_width: float | None,
    aivat: bool,
    stand_in: AgentSpec | None,
    processes: int,
    fresh: bool,
    out: str,
) -> MatchResults:
    """Plays each of `adversaries`, names of `adversary`, against each agent; `hands` and the rest as in matches.

    An agent without a policy interface is refused by name before anything is played.
    """
    unknown = [name for name in adversaries if name not in adversary]
    if unknown or not adversaries or not agents:
        known = ", ".join(adversary)
        raise PokernetsError(f"`adversaries` must name some of {known}" + (f", not {unknown[0]}" if unknown else ""))
    specs: list[AgentSpec] = []
    tables: list[list[str]] = []
    for spec in agents:
        shared = SharedAgent(spec)
        require_policy(shared(), "local best response")
        specs.append(AgentSpec(spec.name, shared, spec.settings))
        for name in adversaries:
            title = f"{name}@{spec.name}"
            build = partial(_adversary, title, game, shared, adversary[name])
            specs.append(AgentSpec(title, build, {"actions": asdict(adversary[name]), "opponent": spec.settings}))
            tables.append([title, spec.name])
    return run_match(
        game=game,
        agents=specs,
        tables=tables,
        hands=hands,
        session=1,
        seed=seed,
        half_width=half_width,
        decision_seconds=None,
        aivat=aivat,
        stand_in=stand_in,
        processes=processes,
        fresh=fresh,
        out=out,
    )


def _adversary(name: str, game: Rules, opponent: SharedAgent, actions: LbrActions) -> Agent:
    return LocalBestResponse(name=name, game=game, opponent=opponent(), actions=actions)
