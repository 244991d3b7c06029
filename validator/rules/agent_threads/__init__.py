"""What only agent-threads demands."""
