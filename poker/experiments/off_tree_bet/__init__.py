"""`evaluate=off_tree_bet`: the experiment of [DLS] section 6.1 and figure 2, with exact best responses.

The first player to act opens the hand with a bet that the blueprint does not know. How much does that player win, in
mbb per hand beyond the value of the game with the bet, from an opponent who answers by translating the bet, by
depth-limited solving with 1, 2, 4, ... values a leaf and safe solving on the flop, by solving to the end of the game,
or who has had the bet in the tree? The names of the players are the paper's: P1 bets, P2 answers and searches.
"""
