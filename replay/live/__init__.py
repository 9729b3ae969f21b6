"""A trace's messages sent again by a real stack."""
