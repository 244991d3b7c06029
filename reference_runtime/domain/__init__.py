"""Decisions: what each command does, as a pure function of the state.

`decide(state, request)` yields drafts of events and returns the fields of the answer. It performs nothing and reads
no clock but the state's. What it yields is applied to the state before it goes on, so a decision sees its own
effects, and an event that a state table refuses ends it. Nothing is kept unless it runs to its end.
"""
