"""Writes the tables of the specification from the contract, and tells when they are stale."""
