"""A comparison of two sets of runs: as a document, for the console, for pull requests, for CI."""
