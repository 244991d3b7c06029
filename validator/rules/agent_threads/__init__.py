"""What only agent-threads demands."""

PROTOCOLS = ("agent-threads",)
"""The only protocols that know these rules; judging another one imports none of them."""
