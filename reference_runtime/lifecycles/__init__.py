"""The lifecycles of the other three protocols, each a package on the stores that the core uses."""
