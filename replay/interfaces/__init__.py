"""Interfaces that are given: what may be sent there, and leaving them as they were."""
