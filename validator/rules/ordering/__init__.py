"""Rules about order, gaps and repetition."""

PROTOCOLS = ("agent-runtime",)
"""The only protocols that know these rules; judging another one imports none of them."""
OTHERS = {
    "effect_before_cause": ("agent-runtime", "agent-threads", "agenthub", "runagents"),
    "event_id_reused": ("agent-runtime", "agent-threads", "agenthub", "runagents"),
    "sequence_gap": ("agent-runtime", "agent-threads", "agenthub", "runagents"),
    "sequence_regression": ("agent-runtime", "agent-threads", "agenthub", "runagents"),
    "sequence_shared": ("agent-runtime", "agenthub", "runagents"),
    "time_runs_back": ("agent-runtime", "agent-threads", "runagents"),
}
"""Rules that other protocols know, each with all that do."""
