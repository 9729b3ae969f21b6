"""What pages are made of, as components of the browser."""
