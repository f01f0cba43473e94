"""Answers to the questions of other programs, as schemas for OpenAPI documents and tools of language models.

The docstrings of the models are published as their descriptions.
"""

from pydantic import BaseModel, Field

AnswerColumn = list[str | bool | int | float | None]
Number = float | None


class ActionTotals(BaseModel):
    """Totals of an action over all hands that reach the decision."""

    frequency: Number = Field(description="share of hands that take the action")
    ev: Number = Field(description="mean EV of the hands that take it, in chips")
    ev_all: Number = Field(description="mean EV over all hands, in chips; compare actions by this value")


class SpotAnswer(BaseModel):
    """A solved spot; values are chips won from the starting pot and from all bets, minus the player's own bets."""

    ev: dict[str, Number] = Field(description="EV of `oop` and `ip`, in chips")
    exploitability: Number = Field(description="extra profit of best responses in chips, averaged over both players")
    finished: bool = Field(description="whether the solve reached the requested `exploitability`")
    player: str | None = Field(description="the player who acts after `words`: OOP, IP, or null for nobody")
    actions: dict[str, ActionTotals] = Field(description="totals of each action")
    hands: dict[str, AnswerColumn] = Field(
        description="columns of a table with one row per `hand`: `weight` in the range, `ev`, `equity`, and for each"
        " ACTION its frequency and its value (`ACTION ev`)"
    )


class AgentAnswer(BaseModel):
    """The strategy of an agent with a policy for all hands, otherwise its action with the given hand."""

    agent: str = Field(description="name of the agent")
    player: int = Field(description="the player who acts; player 0 posts the first blind")
    pot: int = Field(description="chips in the pot")
    hands: dict[str, AnswerColumn] | None = Field(
        default=None,
        description="columns of a table with one row per `hand`: `weight` in the agent's range after the actions so far"
        " (1 for the likeliest hand), and the probability of each action (null if the hand was not solved)",
    )
    note: str | None = Field(default=None, description="a remark on hands outside the agent's range")
    action: str | None = Field(default=None, description="the action of an agent without a policy for all hands")


class LeftOut(BaseModel):
    """Decisions and hands that a review leaves out, with the reasons."""

    decisions: dict[str, str] = Field(description="betting before each skipped decision, with the reason")
    hands: dict[str, int] = Field(description="reasons for skipping other hands of the text, with the number of hands")


class HandAnswer(BaseModel):
    """The reviewed decisions of a player in a hand."""

    hand: int = Field(description="index of the hand in the text, from 0")
    player: str = Field(description="the player whose decisions are reviewed")
    decisions: dict[str, AnswerColumn] = Field(
        description="columns of a table with one row per `action` of each decision (`betting` before it): whether it"
        " was `taken`, its `frequency` in sound play, its `ev` in big blinds (a fold has 0), its `loss` against the"
        " best action with its `error`, the `weight` of the player's cards in the range (1 for the likeliest hand), and"
        " the `likelihood` of the opponent's least likely action so far"
    )
    not_reviewed: LeftOut


class ProfileAnswer(BaseModel):
    """Profiles of the players in hand histories, those with the most hands first."""

    unreadable: int = Field(description="number of hands in the text that cannot be read")
    others: int = Field(description="number of players in the text who are not listed")
    profiles: dict[str, AnswerColumn] = Field(
        description="columns of a table with one row per `player`: number of `hands`, and statistics with their counts"
        " (`vpip` is `vpip_did` / `vpip_of`, null without an opportunity). `vpip`: chips put in before the flop, and"
        " `pfr`: raises there, per hand; `three_bet`: re-raises per decision after one raise; `c_bet`: bets per flop"
        " that the last raiser could bet first; `fold_to_c_bet`; `wtsd`: showdowns per hand that saw the flop; `af`:"
        " bets and raises per call after the flop"
    )


class RefusedQuestion(BaseModel):
    """The reason why a question is not answered."""

    detail: str
