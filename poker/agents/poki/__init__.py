"""The players of [POKI] for ring games of limit hold'em: one by formula, one by simulation."""
