"""Nets that predict a player's next action, from the 19 inputs of [POKI] and optionally earlier hands.

Read `nets.py` first. `inference.py` wraps a trained net as a `Predictor` or an `OpponentModel`.
"""
