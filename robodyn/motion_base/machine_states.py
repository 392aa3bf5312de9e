# SPDX-License-Identifier: Apache-2.0

"""The states of a machine, and what every event does in every one of them.

docs/machine.md has the same table; the tests read it there.
"""

from __future__ import annotations

from typing import Final

from robodyn.errors import RobodynError

STATES: Final = (
    "off", "homing", "parked", "engaging", "engaged", "freezing", "frozen", "parking", "fault",
)  # fmt: skip
# What people and other nodes ask for; these may be refused.
REQUESTS: Final = ("power_on", "engage", "park", "freeze", "reset", "power_off")
# What happens: homing has ended, a motion has arrived or come to rest, the enable signal is silent,
# something is wrong.
EVENTS: Final = ("homed", "arrived", "stopped", "enable_lost", "fault")

_HOMING = "the machine is homing: wait until it is parked"
_FAULT = "there is a fault: remove its cause, then reset"
_FREEZING = "the machine is coming to rest: wait until it is frozen"

# From a state: what each event leads to. A request that is missing here is refused, see REFUSALS;
# an event that is missing changes nothing. A fault whose cause came before the end of homing is
# reset by switching off.
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
_POWERED: Final = {"power_on": "the machine is on already", "reset": "there is no fault to reset"}
_IN_MOTION: Final = _POWERED | {"power_off": "the machine moves: park or freeze it first"}
REFUSALS: Final[dict[str, dict[str, str]]] = {
    "off": dict.fromkeys(("engage", "park", "freeze"), "the machine is off: reset switches it on"),
    "homing": _IN_MOTION | dict.fromkeys(("engage", "park"), _HOMING),
    "parked": _POWERED | {
        "park": "the machine is parked already",
        "freeze": "the machine is parked: it does not move",
    },
    "engaging": _IN_MOTION | {"engage": "the machine is engaging already"},
    "engaged": _IN_MOTION | {"engage": "the machine is engaged already"},
    "freezing": _IN_MOTION | dict.fromkeys(("engage", "park"), _FREEZING) | {
        "freeze": "the machine is freezing already",
    },
    "frozen": _POWERED | {"freeze": "the machine is frozen already"},
    "parking": _IN_MOTION | {"park": "the machine is parking already"},
    "fault": dict.fromkeys(("engage", "park", "freeze"), _FAULT)
    | {"power_on": _POWERED["power_on"]},
}  # fmt: skip


class RequestRefused(RobodynError):
    """What was asked for cannot be done in this state; the text says why. `value` is the state."""


def after(state: str, event: str) -> str:
    """The state to which a request or an event leads.

    Raises:
        RequestRefused: it cannot be asked for in this state.
    """
    if event in REFUSALS[state]:
        raise RequestRefused(f"{event} refused: {REFUSALS[state][event]}", value=state)
    return TRANSITIONS[state].get(event, state)
