"""Rules about approval, permission, sandbox, hooks and the integrity of what was approved."""

PROTOCOLS = ("agent-runtime",)
"""The only protocols that know these rules; judging another one imports none of them."""
