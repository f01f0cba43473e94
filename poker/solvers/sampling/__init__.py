"""Trainers of blueprints that sample: Monte-Carlo CFR and the UCT family."""
