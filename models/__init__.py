"""Nets, losses, data modules and training loops (torch and Lightning), and the inference the agents load."""
