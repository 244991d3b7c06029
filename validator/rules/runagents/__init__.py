"""What only RunAgents demands."""

PROTOCOLS = ("runagents",)
"""The only protocols that know these rules; judging another one imports none of them."""
