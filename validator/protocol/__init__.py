"""The neutral kernel: schemas, state tables, profiles and clauses, and nothing that judges."""
