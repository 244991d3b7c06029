"""RunAgents (`runagents/1`): runs of governed agents, their gates, their log and its export."""
