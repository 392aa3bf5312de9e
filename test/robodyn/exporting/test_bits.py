# SPDX-License-Identifier: Apache-2.0

"""A C program gets the bits of the library, from every function of every kind's export."""

import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import yaml
from node import HAS_WASM, call_in_node
from partial_export import partial_llvm, write_library
from program import Program
from sprung import elastic, sprung
from states import expected, random_states

import robodyn as rd
from robodyn.algorithms import Chart, Motion, conditioning, gravity_vector, motions, stepping
from robodyn.control import ComputedTorque, TrajectoryFollower, reduced_efforts
from robodyn.dynamics.compiled_run import StepSettings
from robodyn.exporting import library_functions, package_texts

pytestmark = [
    pytest.mark.skipif(
        shutil.which("cc") is None, reason="no C compiler (cc); the extra `export` brings one"
    ),
    pytest.mark.slow,
]
ROWS = 100
KP, KV = 100.0, 20.0


@pytest.fixture(scope="module", params=["motion_platform", "stanford_arm", "puma560", "delta"])
def exported(request, tmp_path_factory):
    """All but the puma560 with springs at their joints, platform and delta between points, too."""
    if request.param in ("delta", "puma560"):
        m, done = request.getfixturevalue(request.param)
    else:
        m = sprung(request.param)
        done = rd.export(m, tmp_path_factory.mktemp("export") / m.name, casadi=True)
    return m, done, Program(m, done), random_states(m, ROWS)


def compare(m, program, states):
    """Largest differences by function, in parts of the largest number; 0 for equal bits."""
    q, v, a, tau, w, b = states
    rows, worst = len(q), {}

    def check(name, call, columns, *inputs, absent=False):
        status, *parts = program(name, *inputs)
        found = np.hstack(parts)
        reference = expected(call, *columns)
        known = ~np.isnan(reference).any(axis=1)
        # where Python looks on with other means, there may be none
        assert (status[~known] > 0).all()
        both = known & np.isin(status, (0, 4))
        assert both.mean() > 0.9, (name, status)
        scale = np.maximum(np.abs(reference[both]).max(axis=1, keepdims=True), 1e-300)
        same = found[both].tobytes() == reference[both].tobytes()
        worst[name] = 0.0 if same else float((np.abs(found[both] - reference[both]) / scale).max())

    def on_a_base(name):
        return lambda *given: getattr(m, name)(*given[:-1], base=base_motion(given[-1]))

    for name, load in (("inverse_dynamics", a), ("forward_dynamics", tau)):
        check(name, getattr(m, name), (q, v, load), q, v, load, None, None)
        off = worst[name]
        check(name, on_a_base(name), (q, v, load, w, b), q, v, load, w, b)
        worst[name] = max(off, worst[name])
        name += "_derivatives"
        check(name, on_a_base(name), (q, v, load, w, b), q, v, load, w, b)
    free = m.without_friction()
    check("frictionless_dynamics",
          lambda *given: free.inverse_dynamics(*given[:-1], base=base_motion(given[-1])),
          (q, v, a, w, b), q, v, a, w, b)  # fmt: skip
    check("mass_matrix", m.mass_matrix, (q,), q)
    check("bias", on_a_base("bias"), (q, v, b), q, v, b)
    check("joint_positions", m.joint_positions, (q,), q)
    check("body_pose", m.body_pose, (q,), q)
    check("twist_jacobian", twist_jacobian(m), (q,), q)
    check("advance", m.advance, (q, 0.01 * v), q, 0.01 * v)
    check("difference", m.difference, (q, q[::-1]), q, q[::-1])
    positions = m.joint_positions(q)
    home = np.tile(m.home, (rows, 1))
    check("configuration", m.assemble, (positions,), positions, home)
    rates = m.joint_velocities(q, v)
    check("joint_velocities", m.joint_velocities, (q, v), q, v)
    check("velocity", lambda q, x, r: motions.motion_of_joints(m, x, r, None, q).velocity,
          (q, positions, rates), q, rates)  # fmt: skip
    check("acceleration", lambda q, x, r, c: motions.motion_of_joints(m, x, r, c, q).acceleration,
          (q, positions, rates, tau), q, rates, tau)  # fmt: skip
    lengths = np.full((rows, 1), 0.7)
    check("condition_number", m.condition_number, (q, lengths[:, 0].tolist()), q, lengths)
    status, found = program("side", q)
    reference = conditioning.side(m, q)
    assert (status == 0).all()
    same = np.sign(found[:, 0]) == (1.0 if reference is None else np.sign(reference))
    worst["side"] = float((~same).mean())
    goal, rate = q[::-1], 0.1 * v[::-1]
    law = ComputedTorque(m, KP, KV)

    def torque(q, v, goal, rate, change, load, base, own=0.0):
        error, desired, at = m.difference(q, goal), Motion(goal, rate, change), base_motion(base)
        friction = law.friction
        more = (law.for_friction(error, desired) if friction.exists else 0.0) - own
        resting, efforts = (
            friction.rest.inverse_dynamics(q, v, each, load, base=at) + more
            for each in (0.0 * v, law.feedback_acceleration(error, v, desired))
        )
        limits = m.drives.effort_limits_at(m.joint_velocities(q, v))
        if (np.abs(efforts) <= limits).all():
            return efforts
        return reduced_efforts(m, q, resting, efforts, limits)

    gains = np.full(v.shape[1], KP), np.full(v.shape[1], KV)
    check("computed_torque", torque, (q, v, goal, rate, a, w, b),
          q, v, goal, rate, a, *gains, w, b)  # fmt: skip
    own = 0.1 * tau
    check("computed_torque_less", torque, (q, v, goal, rate, a, w, b, own),
          q, v, goal, rate, a, *gains, own, w, b)  # fmt: skip

    sizes = np.minimum(m.effort_limits, 1e3)
    needed = tau + 2.0 * sizes * np.random.default_rng(5).normal(size=tau.shape)
    check("reduce_efforts", lambda q, *given: reduced_efforts(m, q, *given, m.effort_limits),
          (q, tau, needed), q, tau, needed)  # fmt: skip

    stops = rd.EndStops(time_constant=1e-3)
    far = beyond_ends(m, rows, v.shape[1])
    assert np.ptp([stops.efforts(m, *state) for state in zip(far, v, strict=True)]) > 1.0
    is_elastic = m.drives.elasticity is not None
    links = m.without_actuators() if is_elastic else m
    check("end_stop_efforts", lambda q, v: stops.efforts(links, q, v),
          (far, v), far, v, np.full(rows, 1e-3))  # fmt: skip
    if is_elastic:
        for end in ("", "_derivatives"):
            ask = getattr(links, f"forward_dynamics{end}")
            check(f"link_dynamics{end}",
                  lambda *given, ask=ask: ask(*given[:-1], base=base_motion(given[-1])),
                  (q, v, tau, w, b), q, v, tau, w, b)  # fmt: skip
    worst["step"] = difference_of_steps(m, program, states)
    return worst


def difference_of_steps(m, program, states):
    """Largest difference between steps of the library and of Python; 0 for equal bits."""
    q, v, _, tau, w, b = states
    rows, motors = len(q), ()
    if m.drives.elasticity is not None:
        wound = tau / m.drives.elasticity[:, 0]
        motors = m.joint_positions(q) + wound, m.joint_velocities(q, v) + 0.1 * wound

    def step(q, v, tau, load, *motors):
        held = np.clip(tau, -m.effort_limits, m.effort_limits)
        settings = StepSettings(rd.EndStops(), m.drives.has_torque_speed_curve)
        turned = np.array(motors) if motors else None
        moved = stepping.step(m, q, v, held, load, 1e-4, 9, settings, turned)
        return (*moved, *turned) if motors else moved

    steps = np.full(rows, 1e-4), np.full(rows, 9)
    status, *moved = program("step", q, v, *motors, tau, w, b, *steps)
    reference = expected(step, q, v, tau, np.hstack([w, b]), *motors)
    known = ~np.isnan(reference).any(axis=1)
    assert (status[known] == 0).mean() > 0.9
    both = known & (status == 0)
    return float(np.abs(np.hstack(moved)[both] - reference[both]).max())


@pytest.mark.parametrize("name", ["motion_platform", "puma560"])
def test_elastic_drives_step_with_the_bits_of_the_library(name, tmp_path):
    """The motors of the arm stick and slide."""
    m = elastic(sprung(name) if name == "motion_platform" else rd.load(name))
    done = write_library(m, "rig", tmp_path, partial_llvm(m, "rig", "step"))
    program, states = Program(m, done, only=["step"]), random_states(m, 20)
    assert difference_of_steps(m, program, states) == 0.0


def test_elastic_drives_have_the_bits_of_the_library(elastic_delta):
    m, done = elastic_delta
    program, states = Program(m, done), random_states(m, ROWS)
    worst = compare(m, program, states)
    assert set(worst) == {function.name for function in library_functions(m)}
    assert {name: off for name, off in worst.items() if off > 0.0} == {}
    unwell = np.full_like(states.tau, np.nan)
    steps = np.full(ROWS, 1e-3), np.full(ROWS, 1)
    for motors in ((states.tau, unwell), (unwell, states.tau)):
        status, *_ = program("step", states.q, states.v, *motors, states.tau, None, None, *steps)
        assert (status == 1).all()
    run_examples(done)


def beyond_ends(m, rows, nv):
    """Configurations (rows, nq), many of them with joints beyond their ends."""
    size = {"stewart": 0.3, "serial": 5.0, "closed_loop": 1.3}[m.kind]
    moves = np.random.default_rng(3).uniform(-size, size, (rows, nv))
    return np.array([m.advance(m.home, move) for move in moves])


def base_motion(row):
    return rd.BaseMotion(row[:3], row[3:6], row[6:])


def twist_jacobian(m):
    return getattr(m, "twist_jacobian", m.jacobian)


def test_the_bits_are_those_of_the_library(exported):
    m, _, program, states = exported
    worst = compare(m, program, states)
    assert set(worst) == {function.name for function in library_functions(m)}
    assert {name: off for name, off in worst.items() if off > 0.0} == {}


@pytest.mark.skipif(not HAS_WASM, reason="no Node, or no linker (wasm-ld, ziglang)")
@pytest.mark.parametrize("exported", ["delta"], indirect=True)
def test_webassembly_has_the_same_bits(exported):
    m, done, _, s = exported
    calls, reference, moves = [], [], (1e-3, 2, StepSettings(rd.EndStops()))
    for q, v, a, tau, load, _ in zip(*s, strict=True):
        positions, rates = m.joint_positions(q), m.joint_velocities(q, v)
        velocity = motions.motion_of_joints(m, positions, rates, None, q).velocity
        asked = {
            "inverseDynamics": ((q, v, a, load), m.inverse_dynamics(q, v, a, load)),
            "forwardDynamics": ((q, v, tau), m.forward_dynamics(q, v, tau)),
            "configuration": ((positions, m.home), m.assemble(positions)),
            "velocity": ((q, rates), velocity),
            "twistJacobian": ((q,), m.twist_jacobian(q)),
            "inverseDynamicsDerivatives": ((q, v, a), m.inverse_dynamics_derivatives(q, v, a)),
            "step": ((q, v, tau, load, None, 1e-3, 2), stepping.step(m, q, v, tau, load, *moves)),
        }  # fmt: skip
        calls += [(name, given) for name, (given, _) in asked.items()]
        for _, answer in asked.values():
            reference += answer if isinstance(answer, tuple) else (answer,)
    found = call_in_node(done, calls)
    assert found.tobytes() == np.concatenate([np.ravel(part) for part in reference]).tobytes()


def test_nothing_but_libc_is_needed(exported):
    _, done, _, _ = exported
    library = next(done.folder.glob("*.so"))
    listed = subprocess.run(["nm", "-D", "-u", library], capture_output=True, text=True, check=True)
    needed = {line.split()[-1].split("@")[0] for line in listed.stdout.splitlines()}
    weak = {"__cxa_finalize", "__gmon_start__"} | {name for name in needed if name[:4] == "_ITM"}
    assert needed - weak <= {"memcpy", "memset", "memmove", "sin", "cos", "sincos", "atan2"}


def test_two_threads_get_the_same(exported):
    _, _, program, s = exported
    steps = np.full(ROWS, 1e-3), np.full(ROWS, 2)
    program("inverse_dynamics", s.q, s.v, s.a, s.w, None, threads=True)
    program("step", s.q, s.v, s.tau, s.w, None, *steps, threads=True)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_library_refuses_arguments_that_are_not_finite(exported, bad):
    _, _, program, s = exported
    nv = s.v.shape[1]
    v = s.v.copy()
    base = s.b.copy()
    v[np.arange(nv), np.arange(nv)] = base[np.arange(nv), np.arange(nv)] = bad
    steps = np.full(ROWS, 1e-3), np.full(ROWS, 1)
    for name, *inputs in [
        ("inverse_dynamics", s.q, v, s.a, s.w, None),
        ("inverse_dynamics", s.q, s.a, v, None, None),
        ("inverse_dynamics", s.q, s.v, s.a, None, base),
        ("forward_dynamics", s.q, v, s.tau, s.w, None),
        ("bias", s.q, v, None),
        ("step", s.q, v, s.tau, s.w, None, *steps),
    ]:
        status = program(name, *inputs)[0]
        assert (status[:nv] == 1).all()
        assert (status[nv:] == 0).all()
    assert (program("mass_matrix", np.full_like(s.q, bad))[0] == 1).all()
    assert (program("configuration", np.full_like(s.tau, bad), s.q)[0] == 1).all()


def test_denormal_numbers_are_no_trap(exported):
    _, _, program, s = exported
    tiny = np.full_like(s.v, 5e-324), np.full_like(s.v, -1e-310)
    status, efforts = program("inverse_dynamics", s.q, *tiny, None, None)
    assert (status == 0).all()
    assert np.isfinite(efforts).all()


def test_a_base_at_rest_is_no_base(exported):
    m, _, program, s = exported
    rest = np.concatenate([-gravity_vector(m), np.zeros(6)])
    _, still = program("forward_dynamics", s.q, s.v, s.tau, s.w, None)
    _, moved = program("forward_dynamics", s.q, s.v, s.tau, s.w, rest)
    np.testing.assert_allclose(moved, still, rtol=1e-12, atol=1e-12 * np.abs(still).max())


def test_far_positions_have_no_solution(exported):
    m, _, program, s = exported
    if m.passive_joint_names:
        far = np.tile(50.0 * np.arange(1.0, len(m.joint_names) + 1.0), (ROWS, 1))
        status, found = program("configuration", far, s.q)
        assert (status == 3).all()
        assert found.tobytes() == s.q.tobytes()  # the guess is left


def test_denormal_numbers_are_numbers(exported):
    m, _, program, s = exported
    tiny = np.full_like(s.v, 5e-324)
    status, efforts = program("inverse_dynamics", s.q, tiny, -tiny, 1e-310 * s.w, None)
    assert (status == 0).all()
    reference = expected(m.inverse_dynamics, s.q, tiny, -tiny, 1e-310 * s.w)
    assert efforts.tobytes() == reference.tobytes()
    steps = np.full(ROWS, 1e-3), np.full(ROWS, 1)
    assert (program("step", s.q, tiny, 1e-310 * s.tau, None, None, *steps)[0] == 0).all()


def test_exported_examples_compile_and_run(exported):
    m, done, _, _ = exported
    held = [float(line.split()[-1]) for line in run_examples(done)[0].splitlines()]
    np.testing.assert_allclose(held, m.gravity(m.home), rtol=1e-8, atol=1e-8)


# The springs of the other two need more than their motors have.
@pytest.mark.parametrize("exported", ["puma560", "motion_platform"], indirect=True)
def test_the_control_loop_follows_its_reference(exported):
    text = run_examples(exported[1])[2]
    pattern = r"largest error of .*: (\S+)\nlongest update: .*, rejected references: (\d+)\n"
    error, rejected = re.fullmatch(pattern, text).groups()
    assert 0.0 < float(error) < 1e-4  # [rad, m], of 0.04
    assert int(rejected) == 0


# Types of C++ of a parameter's types.
CPP = {"string": "std::string", "double": "double", "double_array": "std::vector<double>",
       "string_array": "std::vector<std::string>"}  # fmt: skip


def struct_of(parameters):
    """Return the members of the struct that generate_parameter_library makes of parameters."""
    lines = []
    for name, given in parameters.items():
        if "type" in given:
            default = json.dumps(given["default_value"]).replace("[", "{").replace("]", "}")
            lines.append(f"{CPP[given['type']]} {name} = {default};")
        else:
            lines.append(f"struct {{{struct_of(given)}}} {name};")
    return " ".join(lines)


@pytest.mark.parametrize("exported", ["puma560", "motion_platform"], indirect=True)
def test_the_generated_controller_compensates_gravity_as_the_follower(exported, tmp_path):
    m, done, *_ = exported
    files = dict(package_texts(done.name, m))
    (parameters,) = yaml.safe_load(files["src/controller_parameters.yaml"]).values()
    files[f"src/{done.name}_ros2_control/{done.name}_controller_parameters.hpp"] = (
        f"namespace model_based_controller {{struct Params {{{struct_of(parameters)}}};}}"
    )
    files |= {f"src/semantic_components/{name}_sensor.hpp": "" for name in ("force_torque", "imu")}
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    flags = ["-std=c++17", "-Wall", "-Wextra", f"-DPACKAGE={done.name}_ros2_control",
             f"-I{tmp_path / 'src'}", f"-I{done.folder}"]  # fmt: skip
    source, program = Path(__file__).with_name("gravity.cpp"), tmp_path / "gravity"
    library = done.folder / f"lib{done.name}.a"
    subprocess.run(["c++", *flags, source, library, "-lm", "-o", program], check=True)
    near = m.joint_positions(m.home) + 0.05 * np.random.default_rng(7).normal(size=(5, 6))
    configurations = m.assemble(near)
    pulls, payloads = ([0.0, 0.0, -9.81], [0.5, 0.2, -9.7], [0.0, 0.0, 0.0]), (0.0, 2.0)
    terms = [["gravity", "friction", "coriolis"], ["friction"], ["coriolis", "gravity"], ["none"]]
    for pull, mass, compensates in itertools.product(pulls, payloads, terms):
        loaded = m if mass == 0.0 else m.with_payload(mass, [0.02, 0.0, 0.05])
        model = rd.with_gravity(loaded, pull if "gravity" in compensates else [0.0, 0.0, 0.0])
        follower = TrajectoryFollower(model, "gravity_compensation")
        expected = [follower.command(0, q, np.zeros(6)).effort for q in configurations]
        numbers = [*pull, mass, 0.02, 0.0, 0.05]
        found = subprocess.run(
            [program, *map(repr, numbers), *compensates], input=near.tobytes(),
            stdout=subprocess.PIPE, check=True,
        ).stdout  # fmt: skip
        np.testing.assert_allclose(np.frombuffer(found).reshape(5, 6), expected, atol=1e-9)


def run_examples(done):
    """Compile and run the examples in C and C++; return their outputs."""
    reported = []
    for compiler, example in (("cc", "example.c"), ("c++", "example.cpp"), ("cc", "loop.c")):
        if shutil.which(compiler) is None:
            pytest.skip(f"no {compiler}")
        made = done.folder / example.replace(".", "_")
        flags = ["-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic", f"-I{done.folder}"]
        link = [
            f"-L{done.folder}",
            f"-l{done.name}",
            "-lm",
            f"-Wl,-rpath,{done.folder}",
            "-o",
            str(made),
        ]
        subprocess.run([compiler, *flags, str(done.folder / example), *link], check=True)
        run = subprocess.run([made], capture_output=True, text=True, check=True)
        reported.append(run.stdout)
    return reported


@pytest.mark.parametrize("question", ["forward_dynamics", "inverse_dynamics"])
def test_casadi_reads_dynamics_and_jacobians_from_the_library(exported, question, rng):
    """With the values and derivatives that Python has in displacements from home."""
    casadi = pytest.importorskip("casadi", reason="the extra `casadi` is not installed")
    m, done, _, _ = exported
    library = str(done.folder / f"lib{done.name}.so")
    f = casadi.external(f"{done.name}_casadi_{question}", library)
    rows = Chart(m).rows(question)
    for size in (0.1, 1e-3):  # of rotation vectors: by sines, and by a series
        given = [size * rng.normal(size=rows.arguments[0])]
        given += [rng.normal(size=k) for k in rows.arguments[1:]]
        result, *blocks = (part[0] for part in rows.differentiate(*(each[None] for each in given)))
        np.testing.assert_array_equal(f(*given).full().ravel(), result)
        found = f.jacobian()(*given, 0.0)
        for block, slopes in zip(found, blocks, strict=True):
            scale = np.abs(slopes).max()
            np.testing.assert_allclose(block.full(), slopes, rtol=0.0, atol=1e-14 * scale)
    x, v, load = (casadi.MX.sym(name, k) for name, k in zip("xvl", rows.arguments, strict=True))
    slope = casadi.Function("s", [x, v, load], [casadi.gradient(casadi.sumsqr(f(x, v, load)), x)])
    np.testing.assert_allclose(slope(*given).full().ravel(), 2.0 * result @ blocks[0], rtol=1e-9)
