"""What a replay did, for people and programs."""
