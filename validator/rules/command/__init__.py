"""Rules about commands, their answers and what a repetition may do."""
