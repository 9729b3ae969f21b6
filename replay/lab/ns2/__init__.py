"""Runs of the simulator ns-2: its script is written from a scenario, its trace is the capture."""
