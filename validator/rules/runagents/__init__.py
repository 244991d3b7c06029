"""What only RunAgents demands."""
