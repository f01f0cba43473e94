"""How strong agents are: matches, AIVAT, best responses, reports."""
