"""A snapshot against the replay: it may know less, and never more."""

PROTOCOLS = ("agent-runtime",)
"""The only protocols that know these rules; judging another one imports none of them."""
OTHERS = {
    "view-differs": ("agent-threads", "agenthub", "runagents"),
}
"""Rules that other protocols know, each with all that do."""
