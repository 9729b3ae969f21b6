"""Bytes to ledger: the only floor that parses captures (the parsing itself is Rust, `_core`)."""
