# SPDX-License-Identifier: Apache-2.0

"""Structure of a mechanism: rank, idle freedoms, too few motors, cut joints."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from random_mechanisms import Builder, parallel, placement, single_loop
from rich.console import Console
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.algorithms import conditioning, stepping
from robodyn.cli.check_text import loop_parts
from robodyn.errors import InvalidInput, ModelError, NoSolution, UnderActuated
from robodyn.model import Closure, Joint, Link, Placement
from robodyn.solvers.tree.closing import joint_motion, joint_rates


@pytest.mark.parametrize(("kind", "rank"), [("spherical", 2), ("revolute", 2), ("fixed", 3)])
def test_rank_of_a_planar_loop(rng, kind, rank):
    """Five-bar and four-bar: a point in space closes with rank 2, a weld with rank 3."""
    builder = Builder(rng, planar=True)
    parent = "base"
    for n in range(4):
        builder.joint(parent, f"link{n}", "revolute")
        parent = f"link{n}"
    builder.closure("base", parent, kind)
    mechanism = builder.mechanism()
    assert mechanism.structure.rank == rank
    assert mechanism.mobility == 4 - rank


def rods(rng):
    """A 3-RSS-like platform on six rods between ball joints: each rod spins about itself."""
    builder = Builder(rng)
    builder.joint("base", "platform", "floating")
    for n in range(6):
        builder.joint("base", f"crank{n}", "revolute")
        builder.joint(f"crank{n}", f"rod{n}", "floating")
        builder.closure(f"crank{n}", f"rod{n}", "spherical", damping=0.0)
        builder.closure(f"rod{n}", "platform", "spherical", damping=0.0)
    return builder


@pytest.mark.slow
def test_rods_between_ball_joints_are_idle_and_left_at_rest(rng):
    builder = rods(rng)
    driven = [f"base_crank{n}" for n in range(6)]
    mechanism = rd.ClosedLoop(builder.model(driven, tip="platform"))
    assert mechanism.mobility == 6
    assert mechanism.structure.loose == ()
    assert sorted(mechanism.structure.idle_names) == [f"spin of rod{n}" for n in range(6)]
    console = Console(file=StringIO(), width=1000)
    console.print(*loop_parts(conditioning.loop_analysis(mechanism)))
    # which costs accuracy where the rods have inertia about themselves
    assert "idle freedom" in console.file.getvalue()
    q, u = mechanism.home, rng.normal(size=6)
    v = joint_rates(mechanism, q, u)
    for n in range(6):
        first = mechanism.structure.rate_names.index(f"crank{n}_rod{n}.x")
        lower, upper = mechanism.model.closures[2 * n : 2 * n + 2]
        pose = mechanism.link_pose(q, f"rod{n}")
        R = Rotation.from_quat(pose[3:]).as_matrix()
        axis = R @ (upper.at.translation - lower.child_at.translation)
        crank = mechanism.structure.rate_names.index(f"base_crank{n}")
        turn = mechanism.link_pose(q, "base")
        assert np.allclose(turn[:3], 0.0)
        base_axis = mechanism.model.joints[1 + 2 * n].at.rotation @ (
            mechanism.model.joints[1 + 2 * n].axis
        )
        spin = v[first + 3 : first + 6] + v[crank] * base_axis
        assert abs(spin @ axis) < 1e-9 * max(1.0, np.abs(spin).max())


def test_a_ball_joint_of_three_hinges_leaves_a_rod_idle_too():
    """The links between the hinges have no mass, and turn otherwise than the rod that spins."""
    source = rd.load("delta")
    model, joints, links = source.model, [], []
    for joint in model.joints:
        joints.append(joint)
        if joint.name == "rod2b_universal_2":
            joints[-1] = replace(joint, child="rod2b_inner")
            links.append(Link("rod2b_inner"))
            joints.append(Joint("rod2b_third", "revolute", "rod2b_inner", "rod2b"))
    spun = rd.ClosedLoop(replace(model, joints=tuple(joints), links=(*model.links, *links)))
    assert source.structure.idle_names == ()
    (idle,) = spun.structure.idle_names
    assert "rod2b" in idle
    assert (spun.mobility, spun.structure.loose) == (3, ())


@pytest.mark.slow
def test_idle_rods_do_what_rods_on_universal_joints_do_where_they_have_no_inertia_about_themselves(
    rng,
):
    """Thin rods: their spin carries no momentum, so who holds it makes no difference."""
    builder = rods(rng)
    driven = [f"base_crank{n}" for n in range(6)]
    model = builder.model(driven, tip="platform")
    thin = {}
    for n in range(6):
        lower, upper = model.closures[2 * n : 2 * n + 2]
        a, b = lower.child_at.translation, upper.at.translation
        s = (b - a) / np.linalg.norm(b - a)
        inertia = 0.02 * (np.eye(3) - np.outer(s, s))
        thin[f"rod{n}"] = {"mass": 0.3, "com": 0.5 * (a + b), "inertia": inertia}
    links = [replace(link, **thin.get(link.name, {})) for link in model.links]
    mechanism = rd.ClosedLoop(replace(model, links=tuple(links)).without_friction())
    q, u, change = mechanism.home, rng.normal(size=6), rng.normal(size=6)
    efforts = mechanism.inverse_dynamics(q, u, change)
    # the same machine with two hinges across the rod in place of each lower ball
    joints = [j for j in mechanism.model.joints if j.kind != "floating" or j.parent == "base"]
    closures = [c for c in mechanism.model.closures if not c.parent.startswith("crank")]
    parts = universal_rods(mechanism)
    links = [*mechanism.model.links, *parts["links"]]
    moved = replace(
        mechanism.model,
        links=tuple(links),
        joints=(*joints, *parts["joints"]),
        closures=tuple(closures),
        home=tuple(h for h in mechanism.model.home if h[0] in {j.name for j in joints}),
    )
    crossed = rd.ClosedLoop(moved)
    assert crossed.structure.idle_names == ()
    assert crossed.mobility == 6
    there = crossed.assemble(
        mechanism.joint_positions(q),
        guess={"base_platform": q[mechanism.structure.tree.place_of["base_platform"]]},
    )
    expected = crossed.inverse_dynamics(there, u, change)
    assert np.abs(efforts - expected).max() < 1e-9 * np.abs(expected).max()


def universal_rods(mechanism):
    """Each rod on two hinges across it, at its lower ball, placed where the rod is now."""
    out = {"links": [], "joints": []}
    q = mechanism.home
    for n in range(6):
        lower, upper = mechanism.model.closures[2 * n : 2 * n + 2]
        crank = frame_of(mechanism, q, f"crank{n}")
        rod = frame_of(mechanism, q, f"rod{n}")
        s = upper.at.translation - lower.child_at.translation
        x = np.cross(s, [1.0, 0.3, 0.2])
        x /= np.linalg.norm(x)
        y = np.cross(s / np.linalg.norm(s), x)
        at = np.linalg.inv(crank) @ rod
        at[:3, 3] = lower.at.translation
        out["links"].append(Link(f"cross{n}"))
        out["joints"] += [
            Joint(f"u{n}", "revolute", f"crank{n}", f"cross{n}", placement(at), axis=x),
            Joint(
                f"w{n}",
                "revolute",
                f"cross{n}",
                f"rod{n}",
                Placement(),
                Placement(np.eye(3), lower.child_at.translation),
                y,
            ),
        ]
    return out


def frame_of(mechanism, q, link):
    pose, out = mechanism.link_pose(q, link), np.eye(4)
    out[:3, :3], out[:3, 3] = Rotation.from_quat(pose[3:]).as_matrix(), pose[:3]
    return out


def test_with_too_few_motors_inverse_dynamics_names_what_moves(rng):
    builder = parallel(rng, ["spherical"] * 3)
    full = builder.mechanism()
    mechanism = rd.ClosedLoop(replace(full.model, driven=full.model.driven[:-1]))
    assert mechanism.mobility == full.mobility
    q = mechanism.home
    rest = np.zeros(mechanism.mobility)
    with pytest.raises(UnderActuated) as caught:
        mechanism.inverse_dynamics(q, rest, rest)
    assert set(caught.value.joints) == set(mechanism.structure.loose)
    assert full.model.driven[-1] in caught.value.joints
    # it falls: forward dynamics has a solution, that of the fully driven one with one motor off
    efforts = rng.normal(size=len(full.model.driven))
    efforts[-1] = 0.0
    expected = full.mass_matrix(q) @ full.forward_dynamics(q, rest, efforts)
    M, change = mechanism.mass_matrix(q), mechanism.forward_dynamics(q, rest, efforts[:-1])
    same = mechanism.independent_joints == full.independent_joints
    if same:
        assert np.abs(M @ change - expected).max() < 1e-9 * max(1.0, np.abs(expected).max())
    after, _ = stepping.step(mechanism, q, rest, efforts[:-1], np.zeros(6), 1e-3, 20)
    assert mechanism.structure.equations.relative_residual(after) < 1e-12


def test_redundant_motors_keep_within_their_limits_where_that_is_possible(rng):
    """Four motors of a planar platform with three freedoms: one pulls more, the others less."""
    builder = parallel(rng, ["spherical"] * 3, planar=True)
    mechanism = builder.mechanism(1)
    q, u = mechanism.home, np.zeros(3)
    change = rng.normal(size=3)
    free = mechanism.inverse_dynamics(q, u, change)
    worst = int(np.argmax(np.abs(free)))
    limit = 0.9 * abs(free[worst])
    joints = tuple(
        replace(joint, effort=limit if joint.name == mechanism.joint_names[worst] else np.inf)
        for joint in mechanism.model.joints
    )
    limited = rd.ClosedLoop(replace(mechanism.model, joints=joints))
    efforts = limited.inverse_dynamics(q, u, change)
    A = limited.joint_jacobian(q)
    assert np.abs(A.T @ (efforts - free)).max() < 1e-9 * max(1.0, np.abs(A.T @ free).max())
    assert abs(efforts[worst]) <= limit * (1.0 + 1e-9)
    assert np.linalg.norm(efforts) >= np.linalg.norm(free)


def test_weights_let_one_motor_do_less(rng):
    builder = parallel(rng, ["spherical"] * 3, planar=True)
    mechanism = builder.mechanism(1)
    q, rest = mechanism.home, np.zeros(3)
    even = mechanism.inverse_dynamics(q, rest, rest)
    worst = int(np.argmax(np.abs(even)))
    weights = np.where(np.arange(4) == worst, 1e4, 1.0)
    spared = rd.ClosedLoop(replace(mechanism.model, weights=tuple(weights)))
    efforts = spared.inverse_dynamics(q, rest, rest)
    A = mechanism.joint_jacobian(q)
    assert np.abs(A.T @ (efforts - even)).max() < 1e-9 * max(1.0, np.abs(A.T @ even).max())
    assert weights @ efforts**2 <= weights @ even**2 * (1.0 + 1e-9)


def test_the_place_of_the_cut_of_a_loop_makes_no_difference(rng):
    """A chain closed to the base: cut at its end, or in its midst, with the rest turned round."""
    builder = single_loop(rng, 8, "revolute")
    model = builder.mechanism().model
    driven = model.driven
    at = next(n for n in range(3, 8) if model.joints[n].name not in driven)
    # a closure has no armature, and no friction where it slides
    bare = replace(model.joints[at], armature=0.0)
    if bare.kind == "prismatic":
        bare = replace(bare, damping=0.0)
    model = replace(model, joints=(*model.joints[:at], bare, *model.joints[at + 1 :]))
    a = rd.ClosedLoop(model)
    q, last = a.home, model.closures[0]
    there = {
        name: q[a.structure.tree.place_of[name]]
        for name in a.structure.joint_names
        if name != model.joints[at].name
    }
    # a hinge may close either way round; the other cut has to begin the same way
    across = last.at.rotation.T @ frame_of(a, q, last.child)[:3, :3] @ last.child_at.rotation
    there["end"] = Rotation.from_matrix(across).as_rotvec() @ last.axis
    home = tuple((name, tuple(np.atleast_1d(value))) for name, value in there.items())
    b = rd.ClosedLoop(replace(recut(model, at), home=home))
    assert b.structure.rank == a.structure.rank
    assert b.mobility == a.mobility
    r = b.assemble(there, guess=there)
    u, change, wrench = (rng.normal(size=n) for n in (a.mobility, a.mobility, 6))
    rates = dict(zip(a.structure.rate_names, joint_motion(a, q, u, change)[0], strict=True))
    changes = dict(zip(a.structure.rate_names, joint_motion(a, q, u, change)[1], strict=True))
    other = np.array([rates[name] for name in b.independent_joints])
    other_change = np.array([changes[name] for name in b.independent_joints])
    expected = a.inverse_dynamics(q, u, change, wrench)
    found = b.inverse_dynamics(r, other, other_change, wrench)
    assert np.abs(found - expected).max() < 1e-10 * max(1.0, np.abs(expected).max())
    back = b.forward_dynamics(r, other, expected, wrench)
    # in efforts: where a mechanism is nearly singular, rounding of these is large in accelerations
    missing = b.mass_matrix(r) @ (back - other_change)
    assert np.abs(missing).max() < 1e-9 * max(1.0, np.abs(expected).max())


def recut(model, at):
    """Joint `at` of a closed chain becomes the closure, the closure a joint."""
    last = model.closures[0]
    joints = list(model.joints[:at])
    # the closure as a joint from the base to the last link, its child the chain's end
    frames = last.parent, last.child, last.at, last.child_at
    joints.append(Joint("end", "revolute", *frames, last.axis, damping=last.damping))
    for joint in reversed(model.joints[at + 1 :]):
        axis = joint.axis
        joints.append(
            replace(
                joint,
                parent=joint.child,
                child=joint.parent,
                at=joint.child_at,
                child_at=joint.at,
                axis=-axis,
            )
        )
    cut = model.joints[at]
    kind = "prismatic" if cut.kind == "prismatic" else "revolute"
    closure = Closure(
        "cut", kind, cut.parent, cut.child, cut.at, cut.child_at, cut.axis, cut.axis, 0.0
    )
    if kind == "revolute":
        closure = replace(closure, damping=cut.damping)
    kept = {joint.name for joint in joints}
    home = tuple(item for item in model.home if item[0] in kept)
    return replace(model, joints=tuple(joints), closures=(closure,), home=home)


def test_an_open_configuration_is_refused_by_the_closures_name(rng):
    mechanism = parallel(rng, ["spherical"] * 3).mechanism()
    q = mechanism.home
    q[mechanism.structure.tree.place_of["base_platform"]] += [0.01, 0, 0, 0, 0, 0, 0]
    rest = np.zeros(mechanism.mobility)
    with pytest.raises(InvalidInput, match=r"closure 'closure\d' is open by"):
        mechanism.inverse_dynamics(q, rest, rest)


@pytest.mark.slow
def test_loops_that_cannot_close_are_refused_by_name(rng):
    builder = Builder(rng)
    for n, parent in enumerate(["base", "link0", "link1"]):
        builder.joint(parent, f"link{n}", "revolute")
    builder.closure("base", "link2", "spherical")
    far = replace(
        builder.closures[0],
        at=replace(builder.closures[0].at, translation=np.array([30.0, 0.0, 0.0])),
    )
    builder.closures[0] = far
    with pytest.raises(ModelError, match=r"closure 'closure0' stays open by"):
        rd.ClosedLoop(builder.model(["base_link0"]))


@pytest.mark.slow
def test_out_of_reach_is_no_solution(rng):
    """A five-bar whose cranks are further apart than its rods reach."""
    mechanism = parallel(rng, ["spherical"] * 3).mechanism()
    q = mechanism.home
    with pytest.raises(NoSolution) as caught:
        mechanism.assemble(pose=[50.0, 0, 0, 0, 0, 0, 1], guess=q)
    assert caught.value.residual > 1e-3


@pytest.mark.slow
def test_no_assembly_is_the_wrong_way_round(rng):
    """Axes are parallel both ways, but a hinge cannot be closed upside down."""
    mechanism = single_loop(rng, 7, "revolute").mechanism()
    found = mechanism.assemblies(mechanism.joint_positions(mechanism.home), searches=60)
    closure = mechanism.model.closures[0]
    assert len(found) >= 1
    assert np.abs(found - mechanism.home).max(axis=1).min() < 1e-6
    for q in found:
        tip = frame_of(mechanism, q, closure.child)[:3, :3] @ closure.child_at.rotation
        assert (closure.at.rotation @ closure.axis) @ (tip @ closure.child_axis) > 0.99
