"""A minimal durable runtime that implements the core lifecycle.

It reads the same contract as the validator (`validator.protocol`) and nothing else of it, so that the two
are independent readings of one specification.
"""
