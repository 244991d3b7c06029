"""Stories: whole lifecycles as data, and the player that lets them happen."""
