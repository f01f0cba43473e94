"""Solvers of betting trees: CFR over whole ranges and over samples, best response, and the policies they leave."""
