"""The report: results in a browser, and the same as one file."""
