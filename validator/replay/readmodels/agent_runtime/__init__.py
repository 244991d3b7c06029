"""The read models of the core protocol: `ledger.py` rebuilds them, `recall.py` when a snapshot asks."""
