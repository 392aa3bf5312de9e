# SPDX-License-Identifier: Apache-2.0

"""States of a machine, and the effect of every event in every state.

docs/machine.md contains the same table, and the tests compare them.
"""

from __future__ import annotations

from typing import Final

from robodyn.errors import RobodynError

STATES: Final = (
    "off", "homing", "parked", "engaging", "engaged", "freezing", "frozen", "parking", "fault",
)  # fmt: skip
# Meaning of each state for people and the machine.
EFFECTS: Final = {
    "off": "nothing is sent to the drives",
    "homing": "the joints move slowly",
    "parked": "at rest",
    "engaging": "moves to its target, slowly at first",
    "engaged": "follows its target",
    "freezing": "brakes",
    "frozen": "at rest",
    "parking": "moves slowly to its parking position",
    "fault": "brakes and stays at rest until `reset`",
}
# Requests of people and other nodes, which may be rejected.
REQUESTS: Final = ("power_on", "engage", "park", "freeze", "reset", "power_off")
# Events: homing has ended, a motion has arrived or come to rest, the enable signal is missing, a
# fault.
EVENTS: Final = ("homed", "arrived", "stopped", "enable_lost", "fault")

# Transitions by state and event. A request that is missing here is rejected, an event that is
# missing changes nothing. A fault whose cause came before the end of homing is reset by switching
# off.
TRANSITIONS: Final[dict[str, dict[str, str]]] = {
    "off": {"power_on": "homing", "reset": "homing", "power_off": "off"},
    "homing": {"homed": "parking", "freeze": "fault", "enable_lost": "fault", "fault": "fault"},
    "parked": {"engage": "engaging", "power_off": "off", "fault": "fault"},
    "engaging": {
        "arrived": "engaged", "park": "parking", "freeze": "freezing", "enable_lost": "freezing",
        "fault": "fault",
    },
    "engaged": {
        "park": "parking", "freeze": "freezing", "enable_lost": "freezing", "fault": "fault",
    },
    "freezing": {"stopped": "frozen", "fault": "fault"},
    "frozen": {"engage": "engaging", "park": "parking", "power_off": "off", "fault": "fault"},
    "parking": {
        "arrived": "parked", "engage": "engaging", "freeze": "freezing", "enable_lost": "freezing",
        "fault": "fault",
    },
    "fault": {"reset": "frozen", "power_off": "off"},
}  # fmt: skip
# Reasons for a rejection: by the request, else by the state, else the generic reason.
_BY_REQUEST: Final = {
    "power_on": "the machine is already on",
    "reset": "there is no fault to reset",
    "power_off": "the machine is moving: park or freeze it first",
}
_BY_STATE: Final = {
    "off": "the machine is off: reset switches it on",
    "homing": "the machine is homing: wait until it is parked",
    "freezing": "the machine is coming to rest: wait until it is frozen",
    "fault": "there is a fault: remove its cause, then reset",
}


class RequestRefused(RobodynError):
    """Error raised if a request is impossible in the current state.

    The message contains the reason. `value` is the state.
    """


def after(state: str, event: str) -> str:
    """Return the machine's state after a request or an event in its current state.

    An event that does not concern the current state does not change it.

    Raises:
        RequestRefused: the request is impossible in this state.
    """
    if event in REQUESTS and event not in TRANSITIONS[state]:
        already = f"the machine is already {state}"
        why = _BY_REQUEST.get(event) or _BY_STATE.get(state, already)
        raise RequestRefused(f"{event} refused: {why}", value=state)
    return TRANSITIONS[state].get(event, state)
