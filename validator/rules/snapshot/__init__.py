"""A snapshot against the replay: it may know less, and never more."""
