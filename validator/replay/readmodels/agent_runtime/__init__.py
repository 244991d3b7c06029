"""The read models of the core protocol: `ledger.py` rebuilds them, `past.py` when a snapshot asks."""
