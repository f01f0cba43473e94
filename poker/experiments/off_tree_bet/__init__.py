"""`evaluate=off_tree_bet`: the experiment of [DLS] section 6.1 and figure 2, with exact best responses.

The first player to act opens the hand with a bet that is not in the blueprint's tree. The experiment measures that
player's profit in mbb per hand, beyond the value of the game with the bet. The opponent answers in one of these ways:

- translating the bet;
- depth-limited solving with 1, 2, 4, ... values per leaf, and safe solving on the flop;
- solving to the end of the game;
- playing a solution that has the bet in its tree.

The players have the paper's names: P1 bets, and P2 answers and searches.
"""
