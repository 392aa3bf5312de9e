# SPDX-License-Identifier: Apache-2.0

"""Base class of all events."""


class Event:
    """Something that happened, or that is to be done; event handlers react to it."""
