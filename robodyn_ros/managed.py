# SPDX-License-Identifier: Apache-2.0

"""A managed (lifecycle) node that, with `autostart`, takes itself to the active state.

States, transitions and services are those of every ROS 2 lifecycle node, so `ros2 lifecycle` and
lifecycle managers serve. What a derived class makes in `configure` exists in the states inactive
and active, and is destroyed by `cleanup`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifecycle_msgs.msg import State, TransitionDescription, TransitionEvent
from lifecycle_msgs.msg import Transition as TransitionMessage
from lifecycle_msgs.srv import (
    ChangeState,
    GetAvailableStates,
    GetAvailableTransitions,
    GetState,
)
from rclpy.node import Node

from robodyn.errors import RobodynError
from robodyn_ros import qos
from robodyn_ros.lifecycle_states import ACTIVE, GRAPH, STATES, Lifecycle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from robodyn_ros import lifecycle_states
    from robodyn_ros.lifecycle_states import Transition


class Refused(RobodynError):
    """A transition that cannot be made now; the text says why."""


class ManagedNode(Node):
    """A lifecycle node; a derived class overrides `configure`, `activate` and `deactivate`.

    Each may raise a RobodynError, which fails the transition and is logged. Any other exception is
    a bug and ends the node, as in every callback.
    """

    def __init__(self, name: str) -> None:
        self._callbacks_of_parameters: list[Any] = []
        self._refusal: RobodynError | None = None
        super().__init__(name)
        self._lifecycle = Lifecycle(
            {
                "configure": self._configure,
                "cleanup": lambda _: self._done(self.clean_up),
                "activate": lambda _: self._done(self.activate),
                "deactivate": lambda _: self._done(self.deactivate),
                "shutdown": self._shut_down,
            },
            self._tell,
        )
        self._events = self.create_publisher(TransitionEvent, "~/transition_event", qos.EVENTS)
        for kind, service, answer in (
            (ChangeState, "change_state", self._on_change_state),
            (GetState, "get_state", self._on_get_state),
            (GetAvailableStates, "get_available_states", self._on_get_states),
            (GetAvailableTransitions, "get_available_transitions", self._on_get_transitions),
            (GetAvailableTransitions, "get_transition_graph", self._on_get_graph),
        ):
            self.create_service(kind, f"~/{service}", answer)
        self._lasting = {id(entity) for _, entity in self._all_entities()}

    @property
    def is_active(self) -> bool:
        """Whether the node is in the state active."""
        return self._lifecycle.state is ACTIVE

    def configure(self) -> None:
        """Make what the node works with, from its parameters."""

    def activate(self) -> None:
        """Begin to act."""

    def deactivate(self) -> None:
        """Cease to act; also called when an active node is shut down."""

    def clean_up(self) -> None:
        """Destroy what was made since the node itself."""
        for destroy, entity in list(self._all_entities()):
            if id(entity) not in self._lasting:
                destroy(entity)
        for callback in self._callbacks_of_parameters:
            self.remove_on_set_parameters_callback(callback)
        self._callbacks_of_parameters.clear()

    def start(self) -> None:
        """Configure and activate, as the parameter `autostart` asks for.

        Raises:
            RobodynError: either of the two was refused.
        """
        for label in ("configure", "activate"):
            request = self._lifecycle.find(0, label)
            if request is None or not self._lifecycle.make(request):
                raise self._refusal or Refused(f"{label} is not possible now")

    def add_on_set_parameters_callback(self, callback: Callable[..., Any]) -> Any:
        """As rclpy's; what is added while configuring goes with `clean_up`."""
        added = super().add_on_set_parameters_callback(callback)
        self._callbacks_of_parameters.append(callback)
        return added

    def _configure(self, _: Transition) -> bool:
        done = self._done(self.configure)
        if not done:
            ManagedNode.clean_up(self)
        return done

    def _shut_down(self, request: Transition) -> bool:
        return request.start is not ACTIVE or self._done(self.deactivate)

    def _done(self, step: Callable[[], None]) -> bool:
        self._refusal = None
        try:
            step()
        except RobodynError as error:
            self._refusal = error
            return False
        return True

    def _tell(self, transition: Transition) -> None:
        described = _described(transition)
        now = max(self.get_clock().now().nanoseconds, 0)
        self._events.publish(
            TransitionEvent(
                # PlotJuggler reads numbers as doubles, and no bag with one that loses digits so;
                # times of day lose those below 256 ns
                timestamp=now - now % 1024,
                transition=described.transition,
                start_state=described.start_state,
                goal_state=described.goal_state,
            )
        )

    def _on_change_state(
        self, request: ChangeState.Request, response: ChangeState.Response
    ) -> ChangeState.Response:
        wanted, before = request.transition, self._lifecycle.state
        found = self._lifecycle.find(wanted.id, wanted.label)
        if found is None:
            possible = ", ".join(t.label for t in self._lifecycle.available()) or "nothing"
            self.get_logger().error(
                f"no transition {wanted.label or wanted.id} from {before.label}; possible: "
                f"{possible}"
            )
            response.success = False
            return response
        response.success = self._lifecycle.make(found)
        if self._refusal is not None:
            self.get_logger().error(f"{found.label} refused: {self._refusal}")
        return response

    def _on_get_state(self, _: Any, response: GetState.Response) -> GetState.Response:
        response.current_state = _state(self._lifecycle.state)
        return response

    def _on_get_states(
        self, _: Any, response: GetAvailableStates.Response
    ) -> GetAvailableStates.Response:
        response.available_states = [_state(state) for state in STATES]
        return response

    def _on_get_transitions(
        self, _: Any, response: GetAvailableTransitions.Response
    ) -> GetAvailableTransitions.Response:
        response.available_transitions = [_described(t) for t in self._lifecycle.available()]
        return response

    def _on_get_graph(
        self, _: Any, response: GetAvailableTransitions.Response
    ) -> GetAvailableTransitions.Response:
        response.available_transitions = [_described(transition) for transition in GRAPH]
        return response

    def _all_entities(self) -> Iterator[tuple[Callable[[Any], Any], Any]]:
        # the clock is the node's own, however late `use_sim_time` was set
        heard = (each for each in self.subscriptions if each.topic_name != "/clock")
        yield from ((self.destroy_subscription, each) for each in heard)
        yield from ((self.destroy_publisher, each) for each in self.publishers)
        yield from ((self.destroy_service, each) for each in self.services)
        yield from ((self.destroy_client, each) for each in self.clients)
        yield from ((self.destroy_timer, each) for each in self.timers)


def _state(state: lifecycle_states.State) -> State:
    return State(id=state.id, label=state.label)


def _described(transition: Transition) -> TransitionDescription:
    return TransitionDescription(
        transition=TransitionMessage(id=transition.id, label=transition.label),
        start_state=_state(transition.start),
        goal_state=_state(transition.goal),
    )
