"""The games: cards and boards, rules, betting, and the state of a hand.

Read `state.py` first: `HandState` is what everybody plays with, a board and a `Betting` under `Rules`; `cards.py` has
the numbers of cards and hands, and the `CanonicalBoard` that is made once, where a board enters. `beliefs.py` updates
the ranges of all players, `odds.py` says what a call costs. Hold'em with two to ten players and games of one card each
(Kuhn, Leduc) are all `Rules`.
"""
