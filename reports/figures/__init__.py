"""The figures of the report: `inputs` turns ledger and document into columns, `draw` draws them.

Both are pure; nothing here reads a file or knows of a browser.
"""
