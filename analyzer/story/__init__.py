"""A handover told in time order: what its sender knew, which timer ran, what it did, and why."""
