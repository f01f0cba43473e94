"""The players of [POKI], for rings of limit hold'em: one by formula, one by simulation."""
