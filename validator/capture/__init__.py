"""Reading captures: lines, and what kind of line each is."""
