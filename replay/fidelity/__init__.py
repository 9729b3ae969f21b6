"""What a replay did, held against what it was to do."""
