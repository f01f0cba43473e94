"""Opponent modelling: weight tables, strength against them, predictors of actions."""
