# SPDX-License-Identifier: Apache-2.0

"""Managed (lifecycle) node that configures and activates itself with `autostart`.

States, transitions and services are those of every ROS 2 lifecycle node, so `ros2 lifecycle` and
lifecycle managers work. Entities that a derived class creates in `configure` exist in the states
inactive and active, and are destroyed by `cleanup`.

The state machine is rcl's. rclpy's own lifecycle node terminates on requests that its current state
does not allow, and stays alive after `destroy_node`: a later node of the same name in that process
then does not log to `/rosout`, or stops doing so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from lifecycle_msgs.msg import State, Transition, TransitionDescription, TransitionEvent
from lifecycle_msgs.srv import (
    ChangeState,
    GetAvailableStates,
    GetAvailableTransitions,
    GetState,
)
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from robodyn.errors import RobodynError
from robodyn_ros import qos
from robodyn_ros.parameters import Spec, current, declare

Row = tuple[int, str, int, str, int, str]  # of a transition, its start and its goal: id, label


class Refused(RobodynError):
    """Error raised if a lifecycle transition is impossible now; its message is the reason."""


class ManagedNode(Node):
    """Base class of lifecycle nodes, whose transitions derived classes implement.

    The methods are `configure`, `activate` and `deactivate`. Each of these may raise a
    RobodynError, which fails the transition and is logged. Any other exception is a bug and ends
    the node, as in every callback. `self._p` has the values of the parameters at the last
    `configure`.
    """

    def __init__(self, name: str, specs: dict[str, Spec]) -> None:
        self._callbacks_of_parameters: list[Any] = []
        self._refusal: RobodynError | None = None
        self._specs = specs
        super().__init__(name)
        self._p = declare(self, specs)
        with self.handle:
            self._lifecycle = rclpy_implementation.LifecycleStateMachine(self.handle, False)
        self._events = self.create_publisher(TransitionEvent, "~/transition_event", qos.EVENTS)
        self.create_service(ChangeState, "~/change_state", self._on_change_state)
        machine = self._lifecycle
        for kind, service, field, get_value in (
            (GetState, "get_state", "current_state", lambda: _state(*machine.current_state)),
            (GetAvailableStates, "get_available_states", "available_states",
             lambda: [_state(*state) for state in machine.available_states]),
            (GetAvailableTransitions, "get_available_transitions", "available_transitions",
             lambda: [*map(_transition_description, machine.available_transitions)]),
            (GetAvailableTransitions, "get_transition_graph", "available_transitions",
             lambda: [*map(_transition_description, machine.transition_graph)]),
        ):  # fmt: skip
            self.create_service(kind, f"~/{service}", partial(_respond, field, get_value))
        self._lasting = {id(entity) for _, entity in self._all_entities()}
        if not self._p["autostart"]:
            self.get_logger().info("unconfigured: waiting for `ros2 lifecycle set` or a manager")
            return
        for label in ("configure", "activate"):
            request = self._find(0, label)
            if request is None or not self._change_state(request):
                raise self._refusal or Refused(f"lifecycle transition {label} is not possible now")

    @property
    def is_active(self) -> bool:
        """Whether the node is in the lifecycle state active."""
        return bool(self._lifecycle.current_state[0] == State.PRIMARY_STATE_ACTIVE)

    def configure(self) -> None:
        """Create subscriptions, publishers and services from the node's parameters."""

    def activate(self) -> None:
        """Start the work of the node; called when it becomes active."""

    def deactivate(self) -> None:
        """Stop the work of the node; also called when an active node is shut down."""

    def clean_up(self) -> None:
        """Destroy everything that `configure` and later transitions created."""
        for destroy, entity in list(self._all_entities()):
            if id(entity) not in self._lasting:
                destroy(entity)
        for callback in self._callbacks_of_parameters:
            self.remove_on_set_parameters_callback(callback)
        self._callbacks_of_parameters.clear()

    def destroy_node(self) -> None:
        """Destroy the state machine and the node."""
        self._lifecycle.destroy_when_not_in_use()
        super().destroy_node()

    def add_on_set_parameters_callback(self, callback: Callable[..., Any]) -> Any:
        """Add a callback that checks parameters when they are set.

        `clean_up` removes callbacks that were added during `configure`.
        """
        added = super().add_on_set_parameters_callback(callback)
        self._callbacks_of_parameters.append(callback)
        return added

    def _find(self, number: int, label: str = "") -> Row | None:
        """Return the available transition with a label or, if it is empty, with an ID.

        The result is None if no such transition is available.
        """
        for row in self._lifecycle.available_transitions:
            if (row[1] == label) if label else (row[0] == number):
                return row  # type: ignore[no-any-return]
        return None

    def _change_state(self, request: Row) -> bool:
        """Perform a lifecycle transition; return whether it succeeded.

        If a step raises any error, the state remains unchanged; a RobodynError is not propagated.
        """
        was_active, self._refusal = self.is_active, None
        self._trigger(request)
        result = "transition_failure"
        try:
            self._step(request[1], was_active)
            result = "transition_success"
        except RobodynError as error:
            self._refusal = error
        finally:
            found = self._find(0, result)
            assert found is not None  # every transition may have this result
            self._trigger(found)
        return self._refusal is None

    def _step(self, label: str, was_active: bool) -> None:
        if label == "configure":
            try:
                self._p = current(self, self._specs)
                self.configure()
            except RobodynError:
                ManagedNode.clean_up(self)
                raise
        elif label == "cleanup":
            self.clean_up()
        elif label == "activate":
            self.activate()
        elif was_active:  # deactivate or shutdown
            self.deactivate()

    def _trigger(self, row: Row) -> None:
        self._lifecycle.trigger_transition_by_id(row[0], False)
        described = _transition_description(row)
        now = max(self.get_clock().now().nanoseconds, 0)
        self._events.publish(
            TransitionEvent(
                # PlotJuggler reads integers as doubles and rejects bags with inexact ones; times of
                # day are exact to 256 ns
                timestamp=now - now % 1024,
                transition=described.transition,
                start_state=described.start_state,
                goal_state=described.goal_state,
            )
        )

    def _on_change_state(
        self, request: ChangeState.Request, response: ChangeState.Response
    ) -> ChangeState.Response:
        requested, before = request.transition, self._lifecycle.current_state[1]
        found = self._find(requested.id, requested.label)
        if found is None:
            labels = [label for _, label, *_ in self._lifecycle.available_transitions]
            known = {number: label for number, label, *_ in self._lifecycle.transition_graph}
            name = requested.label or known.get(requested.id, requested.id)
            self.get_logger().error(
                f"no transition {name} from {before}; possible: {', '.join(labels) or 'nothing'}"
            )
            return response
        response.success = self._change_state(found)
        if self._refusal is not None:
            self.get_logger().error(f"{found[1]} refused: {self._refusal}")
        return response

    def _all_entities(self) -> Iterator[tuple[Callable[[Any], Any], Any]]:
        # the clock is the node's own, however late `use_sim_time` was set
        own = (each for each in self.subscriptions if each.topic_name != "/clock")
        for destroy, entities in (
            (self.destroy_subscription, own),
            (self.destroy_publisher, self.publishers),
            (self.destroy_service, self.services),
            (self.destroy_client, self.clients),
            (self.destroy_timer, self.timers),
        ):
            yield from ((destroy, each) for each in entities)


def _respond(field: str, get_value: Callable[[], Any], _: Any, response: Any) -> Any:
    """Set a field of a service response, and return the response."""
    setattr(response, field, get_value())
    return response


def _state(number: int, label: str) -> State:
    return State(id=number, label=label)


def _transition_description(row: Row) -> TransitionDescription:
    number, label, start, start_label, goal, goal_label = row
    return TransitionDescription(
        transition=Transition(id=number, label=label),
        start_state=_state(start, start_label),
        goal_state=_state(goal, goal_label),
    )
