"""What cannot be launched is refused in one clear line, with an exit code that says so."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from launch_harness import Launch, ros2
from ros_harness import Process, free_domain, session_of

pytestmark = pytest.mark.system

OUT_OF_REACH = """
waypoints:
  - {xyz: [0, 0, 0.82], rpy: [0, 0, 0]}
  - {xyz: [0, 0, 3.0], rpy: [0, 0, 0], duration: 30.0}
"""
FILES = {
    "out_of_reach.yaml": OUT_OF_REACH,
    "nan.yaml": "/**/inverse_dynamics:\n  ros__parameters:\n    kp: .nan\n",
}
# launch arguments, and what the line has to name
REFUSED = {
    "missing_model": ({"model": "no_such_model"}, "no_such_model"),
    "unknown_path": ({"path": "IX"}, "'IX'"),
    "unreachable_pose": ({"path": "out_of_reach.yaml", "model": "stewart_symmetric"}, "leg"),
    "parameter_that_is_not_finite": ({"params_file": "nan.yaml"}, "kp"),
    "unknown_mode": ({"mode": "guess"}, "guess"),
}


@pytest.fixture(scope="module")
def refusals(tmp_path_factory):
    """How each of them ends: exit code and lines."""
    folder = tmp_path_factory.mktemp("refused")
    for name, text in FILES.items():
        (folder / name).write_text(text)

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
    named = REFUSED[case][1]
    code, lines, left, written = refusals[case]
    output = "\n".join(lines)
    assert code != 0, output
    assert "Traceback" not in output
    assert not written
    assert left == {}
    # several nodes may find the same fault; each says it once
    fatal = [line for line in lines if "[FATAL]" in line]
    nodes = [line.split("]", 1)[0] for line in fatal]
    assert len(set(nodes)) == len(nodes), output
    said = fatal or [line for line in lines if "[ERROR]" in line]
    assert any(named in line for line in said), output


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
