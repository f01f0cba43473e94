"""The rules of poker: cards, boards, betting, and the state of a hand.

Read `state.py` first. A `HandState` is a board and a `Betting` under some `Rules`, and all agents play with it.
`cards.py` numbers cards and hands, and defines `CanonicalBoard`, which is computed once for each board that enters the
program. `beliefs.py` updates the ranges of all players. `odds.py` computes pot odds. `Rules` describes hold'em with two
to ten players and one-card games such as Kuhn and Leduc poker.
"""
