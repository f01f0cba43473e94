"""Vector-form CFR: both players' whole ranges on every board of a subgame."""
