"""AgentHub (`agenthub/1`): runs from their creation to one of three ends, watched, reviewed and audited.

`hub` takes commands; `phases`, `acts`, `approvals`, `applying` and `ends` decide; `gates` reads the table of gates;
`facts` learns from every event what `views` shows.
"""
