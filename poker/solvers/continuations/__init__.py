"""What the opponent may play after the depth limit, generated from a blueprint ([DLS] section 4), with exact values."""
