"""Answers to the questions of other programs, as schemas for OpenAPI documents and tools of language models.

The docstrings of the models are published as their descriptions.
"""

from pydantic import BaseModel, Field

AnswerColumn = list[str | bool | int | float | None]
Number = float | None


class ActionTotals(BaseModel):
    """Totals of an action over all hands that reach the decision."""

    frequency: Number = Field(description="how often they take it")
    ev: Number = Field(description="chips that it wins those that take it")
    ev_all: Number = Field(description="chips that it would win all of them, by which actions compare")


class SpotAnswer(BaseModel):
    """A solved spot; values are chips won from the starting pot and from all bets, minus the player's own bets."""

    ev: dict[str, Number] = Field(description="chips that `oop` and `ip` win of the spot")
    exploitability: Number = Field(description="chips that best responses would win more, the mean of both players")
    finished: bool = Field(description="whether the solve reached the `exploitability` asked for")
    player: str | None = Field(description="who acts after `words`: OOP, IP, or null for nobody")
    actions: dict[str, ActionTotals] = Field(description="by action")
    hands: dict[str, AnswerColumn] = Field(
        description="columns of a table with a row for each `hand`: its `weight` in the range, `ev`, `equity`, for each"
        " action its frequency, and as `ACTION ev` its value"
    )


class AgentAnswer(BaseModel):
    """The strategy of an agent with a policy for all hands, otherwise its action with the given hand."""

    agent: str = Field(description="name of the agent")
    player: int = Field(description="who acts, by the order in which blinds are posted, from 0")
    pot: int = Field(description="chips in the pot")
    hands: dict[str, AnswerColumn] | None = Field(
        default=None,
        description="columns of a table with a row for each `hand`: its `weight` in the range that the actions so"
        " far leave the agent, the likeliest being 1, and for each action its probability, null where none was solved",
    )
    note: str | None = Field(default=None, description="on hands that the agent is not expected to have")
    action: str | None = Field(default=None, description="of an agent without a policy for all hands")


class LeftOut(BaseModel):
    """Decisions and hands that a review leaves out, with the reasons."""

    decisions: dict[str, str] = Field(description="why decisions of the hand are left out, by the betting before them")
    hands: dict[str, int] = Field(description="how many other hands of the text are left out, by the reason")


class HandAnswer(BaseModel):
    """The reviewed decisions of a player in a hand."""

    hand: int = Field(description="place of the hand in the text, from 0")
    player: str = Field(description="whose decisions")
    decisions: dict[str, AnswerColumn] = Field(
        description="columns of a table with a row for each `action` at each decision, after the `betting` so far:"
        " whether it was `taken`, the `frequency` of sound play, its `ev` in big blinds, a fold being 0, its `loss`"
        " against the best one, and the `error` of that; the `weight` of the cards held in the player's range, the"
        " likeliest being 1, and the `likelihood` of the opponent's least likely action so far"
    )
    not_reviewed: LeftOut


class ProfileAnswer(BaseModel):
    """Profiles of the players in hand histories, those with the most hands first."""

    unreadable: int = Field(description="hands in the text that cannot be read")
    others: int = Field(description="players in the text who are not listed")
    profiles: dict[str, AnswerColumn] = Field(
        description="columns of a table with a row for each `player` of so many `hands`: shares, null without an"
        " opportunity, each with how often as `vpip_did` of `vpip_of`: `vpip` put chips in before the flop, blinds"
        " aside, and `pfr` raised then, of all hands; `three_bet` raised again, of decisions after one raise;"
        " `c_bet` bet the flop, of those on which the last raiser before it could bet first; `fold_to_c_bet`; `wtsd`"
        " went to showdown, of the hands that saw the flop; `af`, `af_did` bets and raises over `af_of` calls after it"
    )


class RefusedQuestion(BaseModel):
    """The reason why a question is not answered."""

    detail: str
