"""Turns lines into moves: the one place that holds state."""
