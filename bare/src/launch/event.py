"""Base of all events."""


class Event:
    """Something that happened, for event handlers to react to."""

    name = "launch.Event"
