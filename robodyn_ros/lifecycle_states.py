# SPDX-License-Identifier: Apache-2.0

"""The states of a managed node and what leads from one to another, as in every ROS 2 node.

The numbers and names are those of lifecycle_msgs and rcl_lifecycle, see
https://design.ros2.org/articles/node_lifecycle.html. Nothing here needs rclpy.

rclpy has a state machine of its own, which keeps its node alive after `destroy_node`. A later node
of the same name in that process then does not log to `/rosout`, or ceases to in midst of its work.
It also ends the node on requests that its present state does not allow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class State(NamedTuple):
    """A state, by lifecycle_msgs/State."""

    id: int
    label: str


class Transition(NamedTuple):
    """A way from one state to another, by lifecycle_msgs/TransitionDescription."""

    id: int
    label: str
    start: State
    goal: State


UNKNOWN = State(0, "unknown")
UNCONFIGURED = State(1, "unconfigured")
INACTIVE = State(2, "inactive")
ACTIVE = State(3, "active")
FINALIZED = State(4, "finalized")
CONFIGURING = State(10, "configuring")
CLEANING_UP = State(11, "cleaningup")
SHUTTING_DOWN = State(12, "shuttingdown")
ACTIVATING = State(13, "activating")
DEACTIVATING = State(14, "deactivating")
FAILING = State(15, "errorprocessing")
STATES = (UNKNOWN, UNCONFIGURED, INACTIVE, ACTIVE, FINALIZED, CONFIGURING, CLEANING_UP,
          SHUTTING_DOWN, ACTIVATING, DEACTIVATING, FAILING)  # fmt: skip

# What may be asked for, and through which state it leads.
REQUESTS = (
    Transition(1, "configure", UNCONFIGURED, CONFIGURING),
    Transition(2, "cleanup", INACTIVE, CLEANING_UP),
    Transition(3, "activate", INACTIVE, ACTIVATING),
    Transition(4, "deactivate", ACTIVE, DEACTIVATING),
    Transition(5, "shutdown", UNCONFIGURED, SHUTTING_DOWN),
    Transition(6, "shutdown", INACTIVE, SHUTTING_DOWN),
    Transition(7, "shutdown", ACTIVE, SHUTTING_DOWN),
)
# How each of those states ends: by success, by failure, by an error.
ENDS = (
    (10, CONFIGURING, (INACTIVE, UNCONFIGURED, FAILING)),
    (20, CLEANING_UP, (UNCONFIGURED, INACTIVE, FAILING)),
    (30, ACTIVATING, (ACTIVE, INACTIVE, FAILING)),
    (40, DEACTIVATING, (INACTIVE, ACTIVE, FAILING)),
    (50, SHUTTING_DOWN, (FINALIZED, FINALIZED, FAILING)),
    (60, FAILING, (UNCONFIGURED, FINALIZED, FINALIZED)),
)
RESULTS = ("transition_success", "transition_failure", "transition_error")
GRAPH = REQUESTS + tuple(
    Transition(first + n, RESULTS[n], start, goals[n])
    for first, start, goals in ENDS
    for n in range(3)
)


class Lifecycle:
    """The state of a managed node.

    Args:
        steps: by the label of a request, what it does: called with the request, it returns whether
            it succeeded; one that raises leaves the state as it was.
        made: called with each transition made.

    Attributes:
        state: the present one.
    """

    def __init__(
        self,
        steps: Mapping[str, Callable[[Transition], bool]],
        made: Callable[[Transition], None],
    ) -> None:
        self.state = UNCONFIGURED
        self._steps, self._made = steps, made

    def available(self) -> tuple[Transition, ...]:
        """What may be asked for in the present state."""
        return tuple(transition for transition in GRAPH if transition.start == self.state)

    def find(self, number: int, label: str = "") -> Transition | None:
        """The available transition of this label or, without one, of this number, if there is."""
        for transition in self.available():
            if (transition.label == label) if label else (transition.id == number):
                return transition
        return None

    def make(self, request: Transition) -> bool:
        """Make one of the available transitions; returns whether its step succeeded."""
        before = self.state
        self._go(request)
        try:
            done = self._steps[request.label](request)
        except BaseException:
            self.state = before
            raise
        self._go(next(t for t in GRAPH if t.start == request.goal and t.label == RESULTS[not done]))
        return done

    def _go(self, transition: Transition) -> None:
        self.state = transition.goal
        self._made(transition)
