"""Studies of a mechanism and its paths: conditioning, what lies ahead, what a run amounts to."""
