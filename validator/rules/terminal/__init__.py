"""Rules about ends: what is over stays over, and what is not over is not called so."""

PROTOCOLS = ("agent-runtime",)
"""The only protocols that know these rules; judging another one imports none of them."""
OTHERS = {
    "change-after-end": ("agent-runtime", "agent-threads", "agenthub", "runagents"),
}
"""Rules that other protocols know, each with all that do."""
