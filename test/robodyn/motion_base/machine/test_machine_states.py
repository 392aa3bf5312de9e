# SPDX-License-Identifier: Apache-2.0

"""Every event in every state has the reaction of docs/machine.md."""

from pathlib import Path

import pytest

from robodyn.motion_base.machine import EVENTS, REQUESTS, STATES, TRANSITIONS, RequestRefused, after

PAGE = Path(__file__).parents[4] / "docs/machine.md"


def documented():
    """Return state, event and reaction of every cell of the page's table."""
    rows = [
        [cell.strip().strip("`") for cell in line.split("|")[1:-1]]
        for line in PAGE.read_text().splitlines()
        if line.startswith("| `") or line.startswith("| |")
    ]
    head = next(row for row in rows if "engage" in row)
    table = [row for row in rows if row[0] in STATES and len(row) == len(head)]
    assert [row[0] for row in table] == list(STATES)
    assert head[1:] == [*REQUESTS, *EVENTS]
    return [(row[0], head[k], row[k]) for row in table for k in range(1, len(head))]


def test_the_table_of_the_page_is_what_the_machine_does():
    cells = documented()
    assert len(cells) == 99
    for state, event, answer in cells:
        if answer == "refused":
            with pytest.raises(RequestRefused, match=f"^{event} refused: .{{20,}}") as refusal:
                after(state, event)
            assert refusal.value.value == state
        else:
            assert after(state, event) == (state if answer == "–" else answer)


def test_nothing_else_leads_from_a_state():
    for state in STATES:
        assert set(TRANSITIONS[state]) <= {*REQUESTS, *EVENTS}


def test_a_fault_ends_every_motion_and_only_a_reset_or_switching_off_ends_a_fault():
    for state in set(STATES) - {"off", "fault"}:
        assert after(state, "fault") == "fault"
    left = {event for event in (*REQUESTS, *EVENTS) if TRANSITIONS["fault"].get(event)}
    assert left == {"reset", "power_off"}


def test_the_enable_signal_is_needed_to_move():
    for state in ("engaging", "engaged", "parking"):
        assert after(state, "enable_lost") == "freezing"
    assert after("homing", "enable_lost") == "fault"
