"""What the events add up to: one record per subject, changed by events alone."""
