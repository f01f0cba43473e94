"""What opponents hold and what they will do: weight tables, strength against them, predictors of their actions."""
