# SPDX-License-Identifier: Apache-2.0

"""Packing of a mechanism with closed loops into flat arrays; see `kernels.layout`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from robodyn.actuators.actuator import IDEAL
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.dynamics.kernels.dry_friction import DRY_FRICTION
from robodyn.dynamics.kernels.point_spring import POINT_SPRING, STIFFNESS
from robodyn.model import Closure
from robodyn.solvers.tree.elimination import Elimination
from robodyn.solvers.tree.kernels import layout
from robodyn.solvers.tree.tree import Tree, TreeBody

_PLAN, _BODY = layout.PLAN, layout.BODY_NUMBERS
_DRY = slice(_BODY.dry_friction, _BODY.dry_friction + DRY_FRICTION)
_NO_FRICTION = (0.0,) * DRY_FRICTION


@dataclass(frozen=True)
class Idle:
    """Degree of freedom that is kept at rest: spin of a body about an axis fixed in it.

    Attributes:
        name: name for messages.
        body: index of the body.
        axis: (3,) unit vector, body frame.
    """

    name: str
    body: int
    axis: FloatArray


@dataclass(frozen=True)
class PackedMechanism:
    """Flat arrays with the data of a mechanism for compiled code; see `kernels.layout`.

    Attributes:
        plan: integers, with their bits stored as float64.
        numbers: dimensions, masses and other parameters of the mechanism.
        head: named entries at the start of `plan`: sizes and offsets, see `layout.PLAN`.
        names: name of the closure or idle degree of freedom of each equation.
        entries: (rows, rates) index of each entry of the closures' Jacobian in its packed storage;
            the last index for entries that are always zero.
    """

    plan: FloatArray
    numbers: FloatArray
    head: dict[str, int]
    names: tuple[str, ...]
    entries: np.ndarray

    @cached_property
    def without_dry_friction(self) -> PackedMechanism:
        """Copy of these arrays with dry friction switched off."""
        plan = self.plan.view(np.int64).copy()
        plan[_PLAN.has_dry_friction] = 0
        return replace(self, plan=plan.view(np.float64))

    def inertia_of(self, numbers: FloatArray, body: int) -> FloatArray:
        """Return a view (..., 10) of a body's mass properties in packed arrays (..., k).

        They are mass, center of mass, and inertia as xx xy xz yy yz zz about the center of mass, in
        the body's frame. The arrays are the parameters `numbers` of one or several variants of the
        mechanism.
        """
        first = self.head["at_numbers"] + (body - 1) * _BODY.size + _BODY.mass
        return numbers[..., first : first + 10]

    @property
    def given(self) -> tuple[FloatArray, FloatArray]:
        """Arrays `plan` and `numbers`, the first arguments of every compiled function."""
        return self.plan, self.numbers


def equation_names(tree: Tree, idle: Sequence[Idle] = ()) -> tuple[str, ...]:
    """Return the name of the closure or idle degree of freedom for each equation."""
    names = [name for c in tree.model.closures for name in [c.name] * c.equations]
    return (*names, *(one.name for one in idle))


def row_factors(tree: Tree, idle: int) -> list[float]:
    """Return a scale factor for each closure equation.

    The factor is 1 / size, with the mechanism's size [m], if the equation contains lengths, else 1.
    """
    size, factors = tree.size(), []
    for closure in tree.model.closures:
        lengths = {"cylindrical": 2, "prismatic": 2}.get(closure.kind, 3)
        factors += [1.0 / size] * lengths + [1.0] * (closure.equations - lengths)
    return factors + [1.0] * idle


def pack(
    tree: Tree,
    *,
    idle: Sequence[Idle] = (),
    free: Sequence[int] = (),
    elimination: Elimination | None = None,
    steep: float = np.inf,
) -> PackedMechanism:
    """Pack a mechanism's structure and parameters into flat arrays for compiled code.

    Args:
        tree: tree of its model.
        idle: degrees of freedom kept at rest; each has an equation after those of the closures.
        free: rate indices of the independent coordinates.
        elimination: entries of the closures' Jacobian that may differ from zero, and their
            elimination; without one, all entries are stored and none is eliminated.
        steep: largest motion of a coordinate per motion of an independent one; beyond it a
            simulation selects other independent coordinates.
    """
    model = tree.model
    names = equation_names(tree, idle)
    rows, rates = len(names), tree.rates
    if elimination is None:
        entries, count = np.arange(rows * rates).reshape(rows, rates), rows * rates + 1
    else:
        entries, count = elimination.entries, elimination.count
    head = dict.fromkeys(_PLAN.counts, 0)
    plan, numbers = [0] * _PLAN.size, [float(x) for x in model.gravity]
    head["bodies"] = len(tree.bodies) - 1
    head["positions"], head["rates"] = tree.positions, rates
    head["free"], head["equations"] = len(free), rows
    head["entries"] = count
    _pack_bodies(tree, head, plan, numbers)
    _pack_closures(tree, idle, entries, count - 1, head, plan, numbers)
    _pack_springs(tree, head, plan, numbers)
    head["at_free"] = len(plan)
    plan += list(free)
    driven = [tree.rate_of[name] for name in model.driven]
    head["driven"], head["at_driven"] = len(driven), len(plan)
    plan += driven
    head["at_free_places"] = len(plan)
    plan += [tree.rate_places[rate] for rate in free]
    head["at_free_wraps"] = len(plan)
    plan += [tree.rate_names[rate] in model.wrapping_joints for rate in free]
    head["at_places"] = len(plan)
    plan += [tree.position_of[name] for name in model.driven]
    head["at_steep"] = len(numbers)
    numbers.append(steep)
    head["drives_free"] = int(driven == list(free))
    head["at_weights"] = len(numbers)
    numbers += _of_motors(tree)
    tip = tree.frame_of[model.tip_link]
    head["tip"], head["at_tip"] = tree.body_of[model.tip_link], len(numbers)
    numbers += [*tip[:3, 3], *tip[:3, :3].T.ravel()]
    head["at_rows"] = len(numbers)
    numbers += row_factors(tree, len(idle))
    if elimination is not None:
        elimination.put(free, head, plan, numbers)
    head["widest"] = max(count, rates, rows * max(1, len(free)), 8)
    plan[: _PLAN.size] = list(head.values())
    return PackedMechanism(
        np.array(plan, dtype=np.int64).view(np.float64),
        np.array(numbers, dtype=np.float64),
        head,
        names,
        entries,
    )


def _pack_bodies(tree: Tree, head: dict[str, int], plan: list[int], numbers: list[float]) -> None:
    head["at_bodies"], head["at_numbers"] = len(plan), len(numbers)
    for body in tree.bodies[1:]:
        own, values = _of_body(body)
        plan += own
        numbers += values
    head["has_dry_friction"] = int(_has_dry_friction(head, numbers))


def _of_body(body: TreeBody) -> tuple[list[int], list[float]]:
    """Return the packed data of a body: integers for `plan` and values for `numbers`."""
    rotation, shift = body.frame[:3, :3], body.frame[:3, 3]
    plan = layout.BODY_PLAN.numbers(
        kind=body.kind,
        parent=body.parent,
        position=body.position,
        rate=body.rate,
        aligned=bool((np.abs(rotation - np.eye(3)) < 1e-15).all()),
        centered=not shift.any(),
        has_inertia=body.mass > 0.0 or bool(body.inertia.any()),
        own=body.own,
    )
    return plan, [*rotation.T.ravel(), *shift, *_after_frame(body)]


def _after_frame(body: TreeBody) -> list[float]:
    """Return a body's packed parameters that may differ between model variants."""
    joint = body.joint
    assert joint is not None
    numbers = [*inertia_numbers(body), body.factor, body.offset]
    if joint.kind == "floating":
        return [*numbers, *(0.0,) * 5, *_NO_FRICTION]
    numbers += [joint.damping, joint.reflected_inertia, joint.spin_inertia]
    numbers += [joint.spring.stiffness, joint.spring.at_zero]
    is_free = joint.drive == IDEAL and not joint.friction.any()
    return [*numbers, *(_NO_FRICTION if is_free else joint.actuator.friction_numbers)]


def inertia_numbers(body: TreeBody) -> list[float]:
    """Return the mass properties of a body as ten values.

    They are mass, center of mass (3,), and inertia as xx xy xz yy yz zz, in the body's frame.
    """
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia.tolist()
    return [body.mass, *body.com.tolist(), xx, xy, xz, yy, yz, zz]


def _has_dry_friction(head: Mapping[str, int], numbers: ArrayLike) -> bool:
    """Return whether any joint has dry friction, according to packed parameters."""
    at, bodies = head["at_numbers"], head["bodies"]
    rows = np.asarray(numbers)[at : at + bodies * _BODY.size].reshape(bodies, -1)
    return bool(rows[:, _DRY].any())


def update_packed(packed: PackedMechanism, before: Tree, tree: Tree) -> PackedMechanism:
    """Update packed arrays for a mechanism with the same structure.

    Args:
        packed: arrays of the tree `before`.
        before, tree: trees of the packed and of the new mechanism, which may differ in masses,
            friction, motors and gravity; bodies that both share are not packed again.

    Returns:
        Packed arrays of `tree`.
    """
    model, head = tree.model, dict(packed.head)
    plan, numbers = packed.plan.view(np.int64).copy(), packed.numbers.copy()
    place = head["at_numbers"]
    for old, body in zip(before.bodies[1:], tree.bodies[1:], strict=True):
        if body is not old:
            numbers[place + _BODY.mass : place + _BODY.size] = _after_frame(body)
        place += _BODY.size
    numbers[: len(model.gravity)] = model.gravity
    first = head["at_closures"] + layout.CLOSURE_PLAN.at_numbers
    for k, closure in enumerate(model.closures):
        damper = plan[first + k * layout.CLOSURE_PLAN.size] + layout.CLOSURE_NUMBERS.damping
        numbers[damper : damper + 2] = closure.damping, closure.stiffness
    for k, spring in enumerate(model.springs):
        law = head["at_spring_numbers"] + k * POINT_SPRING + STIFFNESS
        numbers[law : law + 4] = spring.law
    motors, count = head["at_weights"], len(model.driven)
    numbers[motors : motors + 3 * count] = _of_motors(tree)
    head["has_dry_friction"] = int(_has_dry_friction(head, numbers))
    head["damped"] = int(any(max(c.damping, c.stiffness) > 0.0 for c in model.closures))
    plan[: _PLAN.size] = list(head.values())
    return replace(
        packed,
        plan=plan.view(np.float64),
        numbers=numbers,
        head=head,
    )


def _pack_springs(tree: Tree, head: dict[str, int], plan: list[int], numbers: list[float]) -> None:
    springs = tree.model.springs
    head["springs"], head["at_springs"] = len(springs), len(plan)
    head["at_spring_numbers"] = len(numbers)
    head["slides"] |= int(bool(springs))
    for spring in springs:
        for link, point in spring.ends:
            plan.append(tree.body_of[link])
            numbers += (tree.frame_of[link] @ [*point, 1.0])[:3].tolist()
        numbers += spring.law.tolist()


def _of_motors(tree: Tree) -> list[float]:
    """Return the packed inverse weights and effort limits of the driven joints."""
    model, joints = tree.model, {joint.name: joint for joint in tree.joints}
    weights = [1.0 / weight for weight in model.weights or [1.0] * len(model.driven)]
    ends = [joints[name].effort_range for name in model.driven]
    return [*weights, *(least for least, _ in ends), *(largest for _, largest in ends)]


def _pack_closures(
    tree: Tree,
    idle: Sequence[Idle],
    entries: np.ndarray,
    nowhere: int,
    head: dict[str, int],
    plan: list[int],
    numbers: list[float],
) -> None:
    records: list[list[int]] = []
    paths: list[tuple[list[int], float]] = []
    row = 0

    def add(parent: int, child: int, equations: int, at: int, **counts: int) -> None:
        """Append the record of a closure whose values in `numbers` begin at index `at`."""
        nonlocal row
        path = _path(tree, entries, nowhere, parent, child, row, equations)
        ends = {"parent": parent, "child": child, "path": len(paths), "path_length": len(path)}
        records.append(layout.CLOSURE_PLAN.numbers(row=row, at_numbers=at, **ends, **counts))
        paths.extend(path)
        row += equations

    for closure in tree.model.closures:
        at, (point, across, angles) = len(numbers), tree.directions(closure)
        numbers += _of_closure(tree, closure)
        head["damped"] |= int(max(closure.damping, closure.stiffness) > 0.0)
        head["slides"] |= int(bool(across))
        ends = tree.body_of[closure.parent], tree.body_of[closure.child]
        counts = {"point": point, "across": len(across), "angles": len(angles)}
        add(*ends, closure.equations, at, **counts)
    for one in idle:
        at = len(numbers)
        numbers += [0.0] * layout.CLOSURE_NUMBERS.size + [*one.axis]
        add(0, one.body, 1, at, idle=1)
    head["closures"], head["at_closures"] = len(records), len(plan)
    for record in records:
        plan += record
    head["at_paths"], head["at_signs"] = len(plan), len(numbers)
    for step, _ in paths:
        plan += step
    numbers += [sign for _, sign in paths]


def _of_closure(tree: Tree, closure: Closure) -> list[float]:
    """Return the packed values of a closure, in the order of `layout.CLOSURE_NUMBERS`.

    The directions of its translational and angular constraints follow.
    """
    _, across, angles = tree.directions(closure)
    numbers: list[float] = []
    for link, place, _ in closure.ends:
        numbers += [*(tree.frame_of[link] @ np.array([*place.translation, 1.0]))[:3]]
    numbers += [closure.damping, closure.stiffness]
    first, second = (tree.frame_of[link][:3, :3] @ p.rotation for link, p, _ in closure.ends)
    numbers += (second @ first.T).T.ravel().tolist()
    for direction in across:
        numbers += [*direction]
    for u, w in angles:
        # perpendicular if closed: the cosine of the unit vectors
        numbers += [*u, *w, 0.0]
    return numbers


def _path(
    tree: Tree, entries: np.ndarray, nowhere: int, a: int, b: int, row: int, equations: int
) -> list[tuple[list[int], float]]:
    path = []
    for number, sign in tree.loop_path(a, b):
        body = tree.bodies[number]
        steps = (
            range(layout.SHIFT_X, layout.SHIFT_X + 6)
            if body.kind == layout.FLOATING
            else [layout.SLIDE if body.kind == layout.PRISMATIC else layout.TURN]
        )
        for n, moves in enumerate(steps):
            places = [int(entries[row + k, body.rate + n]) for k in range(equations)]
            if all(place == nowhere for place in places):
                continue
            places += [nowhere] * (6 - equations)
            path.append(([moves, number, *places], sign * body.factor))
    return path
