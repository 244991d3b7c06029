"""Wires: a message becomes a command, an event becomes a message. No decisions are taken here."""
