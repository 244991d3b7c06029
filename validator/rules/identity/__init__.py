"""Rules about ids, and about what belongs to what."""

PROTOCOLS = ("agent-runtime",)
"""The only protocols that know these rules; judging another one imports none of them."""
OTHERS = {
    "missing-ids": ("agent-runtime", "agenthub"),
}
"""Rules that other protocols know, each with all that do."""
