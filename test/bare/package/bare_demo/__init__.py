"""Nodes for the tests of bare/."""
