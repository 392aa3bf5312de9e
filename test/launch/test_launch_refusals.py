# SPDX-License-Identifier: Apache-2.0

"""Invalid launches are rejected in one clear line, with a nonzero exit code."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from launch_harness import Launch, ros2
from ros_harness import Process, free_domain, session_of

pytestmark = pytest.mark.system

# Leg 1 of the paper's manipulator has its joints at base (.6, .2, 0) and platform (.3, 0, .1).
NO_LENGTH = """
waypoints:
  - {xyz: [0.3, 0.2, -0.1], rpy: [0, 0, 0]}
  - {xyz: [0.3, 0.0, 0.6], rpy: [0, 0, 0], duration: 6.0}
"""
# launch arguments, what the line has to name, and who says it: the launch before it starts
# anything, or a node; what else a node refuses is told in the same way, see test_ros_parameters
REFUSED = {
    "missing_model": ({"model": "no_such_model"}, "no_such_model", "launch"),
    "unknown_path": ({"path": "IX"}, "'IX'", "launch"),
    "leg_without_length": ({"path": "no_length.yaml"}, "leg 1 has zero length", "node"),
    "unknown_mode": ({"mode": "guess"}, "guess", "launch"),
}


@pytest.fixture(scope="module")
def refusals(tmp_path_factory):
    """Run each invalid launch; return exit code and lines."""
    folder = tmp_path_factory.mktemp("refused")
    (folder / "no_length.yaml").write_text(NO_LENGTH)

    def end_of(name: str) -> tuple[int, list[str], dict[int, str], bool]:
        own = folder / name
        own.mkdir()
        arguments = {
            key: folder / value if Path(value).suffix == ".yaml" else value
            for key, value in REFUSED[name][0].items()
        }
        flight = Launch(own, arguments)
        try:
            code = flight.wait()
            written = (flight.output_folder / "summary.json").exists()
            return code, flight.lines, session_of(flight.process.pid), written
        finally:
            flight.close()

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(REFUSED, pool.map(end_of, REFUSED), strict=True))


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_clear_line(refusals, case):
    _, named, by = REFUSED[case]
    code, lines, left, written = refusals[case]
    output = "\n".join(lines)
    assert code != 0, output
    assert "Traceback" not in output
    assert "escalating" not in output
    assert not written
    assert left == {}
    fatal = [line for line in lines if "[FATAL]" in line]
    errors = [line for line in lines if "[ERROR]" in line]
    if by == "launch":
        assert "process started" not in output
        assert fatal == []
        # an argument that is none of the choices is named by launch twice
        assert len(errors) == (2 if case == "unknown_mode" else 1), output
        assert all(named in line for line in errors), output
        return
    # several nodes may find the same fault; each logs it once, and none logs another
    nodes = [line.split("]", 1)[0] for line in fatal]
    assert len(set(nodes)) == len(nodes) > 0, output
    assert all(named in line for line in fatal), output
    assert len([line for line in errors if "before the run was done" in line]) == 1, output


def test_arguments_are_shown():
    process = Process(
        [ros2(), "launch", "robodyn", "stewart_sim.launch.py", "--show-args"], free_domain()
    )
    assert process.wait() == 0
    for argument in ("model", "path", "mode", "stepping", "duration", "output"):
        line = next(k for k, text in enumerate(process.lines) if f"'{argument}':" in text)
        # a description follows, and a default
        assert len(process.lines[line + 1].strip()) > 10
    assert "process started" not in process.output
