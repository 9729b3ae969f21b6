"""The report in the browser: what is shown, its state, pages, parts and guard."""
