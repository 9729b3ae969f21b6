"""A trace's packets sent again as they are."""
