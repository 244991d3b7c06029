"""HTTP with Server-Sent Events: commands are posted, read models are fetched, events are streamed."""
