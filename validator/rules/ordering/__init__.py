"""Rules about order, gaps and repetition."""

PROTOCOLS = ("agent-runtime",)
"""The only protocols that know these rules; judging another one imports none of them."""
OTHERS = {
    "effect-before-cause": ("agent-runtime", "agent-threads", "agenthub", "runagents"),
    "event-id-reused": ("agent-runtime", "agent-threads", "agenthub", "runagents"),
    "sequence-gap": ("agent-runtime", "agent-threads", "agenthub", "runagents"),
    "sequence-regression": ("agent-runtime", "agent-threads", "agenthub", "runagents"),
    "sequence-shared": ("agent-runtime", "agenthub", "runagents"),
    "time-runs-back": ("agent-runtime", "agent-threads", "runagents"),
}
"""Rules that other protocols know, each with all that do."""
