"""Impairments over time: profiles, other formats of them, and what captures say."""
