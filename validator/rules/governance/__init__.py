"""Rules about approval, permission, sandbox, hooks and the integrity of what was approved."""
