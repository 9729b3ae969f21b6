"""Ledger to answers: pure functions of ledger tables; no files, no clock."""
