"""What captures say of the links that they crossed, as a profile."""
