"""Two sets of runs compared: what changed, how surely, and whether it matters."""
