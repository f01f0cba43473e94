"""Nets that predict a player's next action: [POKI]'s 19 inputs, and with memory of earlier hands.

`nets.py` first; `inference.py` seats a trained net as a `Predictor` or an `OpponentModel`.
"""
