"""Games of visitors: the hand at the table, its files, and the processes in which agents play and solve."""
