"""For vendors: Hypothesis strategies derived from the contract (need the `testing` extra), and mutators."""
