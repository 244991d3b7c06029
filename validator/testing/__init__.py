"""For vendors: Hypothesis strategies derived from the contract. Needs the `testing` extra."""
