"""`pathscope profile`."""
