"""Rules about commands, their answers and what a repetition may do."""

PROTOCOLS = ("agent-runtime",)
"""The only protocols that know these rules; judging another one imports none of them."""
