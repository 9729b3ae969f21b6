"""Two captures of one run: the same packets in both, their clocks, the way from end to end."""
