"""Traces back onto the wire, and the lab that makes runs with known truth."""
