# SPDX-License-Identifier: Apache-2.0

"""Structure of a mechanism: closed configuration, rank, mobility, independent coordinates.

Everything follows from the closures' Jacobian at closed configurations around home, nothing from
counting types of joints, so redundant closures and special geometries are found.
"""

from __future__ import annotations

import copyreg
from dataclasses import dataclass, replace
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import ModelError
from robodyn.model.model import Model
from robodyn.model.topology import ModelTopology, shape_of
from robodyn.solvers.tree.closing.equations import ACCEPTED, Equations, null_space
from robodyn.solvers.tree.closing.global_search import assemble_globally
from robodyn.solvers.tree.closing.idle import find_idle
from robodyn.solvers.tree.closing.legs import nearest_legs
from robodyn.solvers.tree.elimination import Elimination, find_elimination
from robodyn.solvers.tree.kernels import layout
from robodyn.solvers.tree.kernels.entries import fits
from robodyn.solvers.tree.packing import Idle, PackedMechanism, pack, update_packed
from robodyn.solvers.tree.tree import Tree, TreeBody

# Number of samples around home, and their distance from it [rad, or relative to the size].
SAMPLES = 4
SPREAD = 0.15
# Smallest nonzero singular value, relative to the largest, for which the rank is clear.
CLEAR = 1e-5
# Fraction of a coordinate's motion above which it counts as independent of the others.
DISTINCT = 1e-6
SEED = 15
# Number of starts around a guess in the search for a closed configuration.
ATTEMPTS = 60
# See `dependent_rate_ratio`.
STEEPNESS = 10.0

# Number of cached shapes of models, which do not depend on payload, friction, motors or gravity.
MOST_SHAPES = 16


@dataclass(frozen=True)
class Structure:
    """Result of the structural analysis of a mechanism, valid for all of its states.

    Attributes:
        tree: bodies and coordinates.
        equations: equations of the closures and of idle degrees of freedom.
        home: (positions,) closed configuration.
        closures: number of closure equations.
        rank: rank of the closures' Jacobian.
        mobility: degrees of freedom of the mechanism without idle ones.
        idle: idle degrees of freedom, such as a rod's spin, which are held at rest.
        free: indices of the independent coordinates among all rates.
        loose: names of joints that can move while every driven joint is locked, without idle ones.
        determined: whether the driven joints determine the motion.
        present: (rows, rates) whether an entry of the closures' Jacobian can differ from zero.
        elimination: order in which the closure equations are eliminated.
        packed: flat arrays for the compiled equations.
    """

    tree: Tree
    equations: Equations
    home: FloatArray
    closures: int
    rank: int
    mobility: int
    idle: tuple[Idle, ...]
    free: tuple[int, ...]
    loose: tuple[str, ...]
    determined: bool
    present: np.ndarray
    elimination: Elimination
    packed: PackedMechanism

    @property
    def is_open_tree(self) -> bool:
        """Whether the faster equations for trees without closures can be used.

        They support no mimic joints and no rotors that spin, and floating joints on the base only.
        """
        return not (self.equations.rows.size or any(map(_is_coupled, self.tree.bodies[1:])))

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of all movable joints, floating ones included, in a configuration's order."""
        return tuple(joint.name for joint in self.tree.joints)

    @property
    def rate_names(self) -> tuple[str, ...]:
        """Names of the rates of all joints; a floating joint has six, those of its twist."""
        return tuple(self.tree.rate_names)

    @property
    def idle_names(self) -> tuple[str, ...]:
        """Names of idle degrees of freedom: spins without effect, which are held at rest."""
        return tuple(one.name for one in self.idle)

    @property
    def keeps_floating_rates(self) -> bool:
        """Whether the six rates of each floating joint are independent and consecutive."""
        free = list(self.free)
        return all(
            free[(at := free.index(body.rate)) : at + 6] == list(range(body.rate, body.rate + 6))
            for body in self.tree.bodies[1:]
            if body.width == 6
        )


def _is_coupled(body: TreeBody) -> bool:
    """Return whether the motion of a body's joint affects more than the bodies it carries."""
    assert body.joint is not None
    if body.joint.kind == "floating":
        return body.parent != 0
    return body.own != body.position or body.joint.spin_inertia != 0.0


def find_structure(model: Model) -> Structure:
    """Analyze a model: home configuration, rank, mobility, independent coordinates.

    Raises:
        ModelError: the loops do not close from home, or the named joints are not independent.
    """
    tree = Tree(model)
    bare = Equations(tree, pack(tree))
    home = _home(tree, bare)
    bare.set_hinge_senses(home)
    rank, samples = _rank(bare, closed_samples(bare, home))
    driven = [tree.rate_of[name] for name in model.driven]
    idle = find_idle(tree, bare, samples[-1], driven)
    equations = Equations(tree, pack(tree, idle=idle)) if idle else bare
    equations.set_hinge_senses(home)
    jacobians = [equations.at(q)[1] for q in samples]
    mobility = tree.rates - null_space(jacobians[-1])[0]
    if not mobility:
        closures = ", ".join(repr(closure.name) for closure in model.closures[:8])
        raise ModelError(
            f"{model.source or model.name}: no joint can move: the closures {closures} have rank "
            f"{rank} for {tree.rates} tree coordinates; a platform on six legs needs a floating "
            "joint, and a loop needs enough joints for its closures to leave one free",
            value=rank,
        )
    loose = _loose(tree, jacobians[-1], driven)
    free = _independent(tree, jacobians[-1], mobility)
    rng = np.random.default_rng(SEED)
    present = _present(equations, tree, rng)
    elimination = find_elimination(jacobians, present, free)
    if elimination is None and loose and not model.independent and samples[0] is home:
        # passive joints that serve around home may be singular there, and others not
        at_home = _independent(tree, jacobians[0], mobility)
        elimination = find_elimination(jacobians, present, at_home)
        free = free if elimination is None else at_home
    if elimination is None:
        names = ", ".join(tree.rate_names[rate] for rate in free)
        others = [K for q, K in zip(samples, jacobians, strict=True) if q is not home]
        if others and find_elimination(others, present, free) is not None:
            raise ModelError(
                f"{model.source or model.name}: home is singular (a dead center): the joints "
                f"{names} do not determine the mechanism there, but do so around it. Give a home "
                f"away from it, such as {_most_displaced_joint(equations, home, samples[-1])}",
                value=model.home,
            )
        raise ModelError(
            f"{model.source or model.name}: the joints {names} do not determine the mechanism",
            value=model.independent,
        )
    scaled = elimination.scaled(1.0 / equations.rows, 1.0 / equations.columns)
    steep = dependent_rate_ratio(equations, home, free)
    packed = pack(tree, idle=idle, free=free, elimination=scaled, steep=steep)
    room: Any = fits
    if not room.py_func(SimpleNamespace(**packed.head)):
        raise ModelError(
            f"{model.source or model.name}: {mobility} degrees of freedom of "
            f"{len(tree.bodies) - 1} bodies exceed the capacity of the compiled code; fix joints "
            "that need not move",
            value=mobility,
        )
    count = sum(closure.equations for closure in model.closures)
    return Structure(
        tree, equations, home, count, rank, mobility, idle, free, loose, not loose, present,
        elimination, packed,
    )  # fmt: skip


def _most_displaced_joint(equations: Equations, home: FloatArray, other: FloatArray) -> str:
    """Format a `home` entry for the joint that moves most between two configurations."""
    tree = equations.tree
    joints = [j for j in tree.joints if j.moves_alone and j.name not in tree.model.driven]
    places = [tree.position_of[joint.name] for joint in joints]
    scales = equations.columns[[tree.rate_of[joint.name] for joint in joints]]
    if not joints:
        return "other positions of the joints"
    most = int((np.abs(other - home)[places] / scales).argmax())
    return f"home: {{{joints[most].name}: {other[places[most]]:.3g}}}"


def _home(tree: Tree, equations: Equations) -> FloatArray:
    """Find a closed configuration near the home positions that the model states."""
    model = tree.model
    guess = initial_guess(tree, dict(model.home))
    named = dict(model.home)
    held = [tree.rate_of[name] for name in model.driven if name in named]
    # floating bodies stay as described: first only the legs move
    floating = [
        body.rate + k for body in tree.bodies[1:] if body.kind == layout.FLOATING for k in range(6)
    ]
    found = equations.close(guess, [*held, *floating])
    if found.left > ACCEPTED:
        found = assemble_globally(equations, found.q, held, None, ATTEMPTS)
    if found.left > ACCEPTED and held:
        found = assemble_globally(equations, guess, [], None, ATTEMPTS)
    if found.left > ACCEPTED:
        name = found.closure or equations.worst(found.q)
        raise ModelError(
            f"{model.source or model.name}: the loops do not close from home; closure {name!r} "
            f"stays open by {found.left:.3g} of the mechanism's size of {equations.size:.3g} m. "
            "Give home positions near which it closes, and check the closure's origins and axes",
            value=found.left,
        )
    return nearest_legs(equations, found.q, guess, [*held, *floating])


def initial_guess(tree: Tree, values: dict[str, tuple[float, ...]]) -> FloatArray:
    """Create a configuration from the positions of some joints, to start a search.

    Other joints are at zero, or at the limit nearest to zero. The loops are generally open.
    """
    q = np.zeros(tree.positions)
    for joint in tree.joints:
        at = tree.position_of[joint.name]
        if joint.kind == "floating":
            q[at : at + 7] = values.get(joint.name, (0.0,) * 6 + (1.0,))
            q[at + 3 : at + 7] /= np.linalg.norm(q[at + 3 : at + 7])
        else:
            q[at] = values.get(joint.name, (float(np.clip(0.0, *joint.position)),))[0]
    update_mimic_joints(tree, q)
    return q


def update_mimic_joints(tree: Tree, q: FloatArray) -> None:
    """Set the mimic joints in configurations (..., positions), in place.

    Their positions follow from those of the joints that they mimic.
    """
    for joint in tree.joints:
        if joint.mimic is not None:
            source = q[..., tree.position_of[joint.mimic.joint]]
            at = tree.position_of[joint.name]
            q[..., at] = joint.mimic.multiplier * source + joint.mimic.offset


def closed_samples(equations: Equations, home: FloatArray) -> list[FloatArray]:
    """Return closed configurations for rank tests: home, then random ones nearby."""
    rng, everything = np.random.default_rng(SEED), np.arange(equations.tree.rates)
    found = [home]
    for attempt in range(6 * SAMPLES):
        if len(found) > SAMPLES:
            break
        deviation = SPREAD / (1.0 + attempt // SAMPLES)
        step = rng.normal(0.0, deviation, equations.tree.rates)
        # damped, as full minimum-norm steps diverge for overconstrained loops
        for near in equations.nearly_closed([equations.stepped(home, step)], everything):
            closed = equations.close(near)
            if closed.left <= ACCEPTED:
                found.append(closed.q)
    return found


def _rank(equations: Equations, samples: list[FloatArray]) -> tuple[int, list[FloatArray]]:
    """Return the rank of the closures' Jacobian, and the samples that have this rank.

    The rank is the largest one of all samples, which are closed configurations. Near a singular
    configuration, however, rounding leaves small singular values. This is common for
    overconstrained loops, such as a parallelogram with a third bar when all bars are in line. Such
    samples are discarded unless there are no others.
    """
    found = []
    for q in samples:
        _, K = equations.at(q)
        rank, _ = null_space(K)
        values = np.linalg.svd(K, compute_uv=False) if rank else np.ones(1)
        clear = float(values[max(rank, 1) - 1]) > CLEAR * float(values[0])
        found.append((q, rank, clear))
    if any(clear for *_, clear in found):
        found = [one for one in found if one[2]]
    rank = max(rank for _, rank, _ in found)
    return rank, [q for q, has, _ in found if has == rank]


def _present(equations: Equations, tree: Tree, rng: np.random.Generator) -> np.ndarray:
    """Return the sparsity pattern (rows, rates) of the closures' Jacobian."""
    present = np.zeros((len(equations.rows), tree.rates), dtype=bool)
    start = initial_guess(tree, {})
    for _ in range(4):
        q = equations.stepped(start, rng.uniform(-1.5, 1.5, tree.rates))
        present |= np.abs(equations.at(q)[1]) > 1e-12
    return present


def _loose(tree: Tree, K: FloatArray, driven: list[int]) -> tuple[str, ...]:
    """Return the names of joints that can move while the driven joints are locked."""
    others = np.setdiff1d(np.arange(tree.rates), driven)
    _, basis = null_space(K[:, others])
    moving = np.abs(basis).max(axis=1, initial=0.0) > 1e-7
    return tuple(tree.rate_names[rate] for rate in others[moving])


def _independent(tree: Tree, K: FloatArray, mobility: int) -> tuple[int, ...]:
    """Select independent coordinates; return their rate indices.

    Joints that the model declares independent are preferred, then driven joints.
    """
    model = tree.model
    _, basis = null_space(K)
    named = [tree.rate_of[name] for name in model.independent]
    if named and len(named) != mobility:
        raise ModelError(
            f"{model.source or model.name}: {len(named)} independent joints are named, but the "
            f"mechanism has {mobility} degrees of freedom",
            value=model.independent,
        )
    driven = [tree.rate_of[name] for name in model.driven]
    single = [tree.rate_of[j.name] for j in tree.joints if j.kind != "floating"]
    preferred = dict.fromkeys([*named, *driven, *single, *range(tree.rates)])
    chosen: list[int] = []
    orthonormal = np.zeros((0, mobility))
    for rate in preferred:
        if len(chosen) == mobility:
            break
        row = basis[rate] - orthonormal.T @ (orthonormal @ basis[rate])
        length = float(np.linalg.norm(row))
        if length > DISTINCT:
            chosen.append(rate)
            row = row / length
            row = row - orthonormal.T @ (orthonormal @ row)
            orthonormal = np.vstack([orthonormal, row / np.linalg.norm(row)])
        elif rate in named:
            raise ModelError(
                f"{model.source or model.name}: independent joint {tree.rate_names[rate]!r} does "
                "not move independently of the others",
                value=tree.rate_names[rate],
            )
    return tuple(chosen)


def dependent_rate_ratio(equations: Equations, q: FloatArray, free: tuple[int, ...]) -> float:
    """Return the largest permitted rate of a joint per unit of an independent rate.

    Beyond this ratio, a simulation changes to other independent coordinates. The value is a
    multiple of the largest ratio at the configuration `q`, or of 1 if that is smaller.
    """
    _, K = equations.at(q)
    _, basis = null_space(K)
    own = basis[list(free)]
    if own.shape[0] != own.shape[1] or np.linalg.svd(own, compute_uv=False)[-1] < 1e-6:
        return STEEPNESS
    S = basis @ np.linalg.inv(own)
    S = S * equations.columns[:, None] / equations.columns[list(free)]
    return STEEPNESS * max(1.0, float(np.abs(S).max()))


def structure_of(model: Model) -> Structure:
    """Return a model's structure, computed unless a model of equal geometry is cached.

    Raises:
        ModelError: as for `find_structure`.
    """
    found = _found(shape_of(model))
    if found.tree.model is model:
        return found
    tree = found.tree.carried_by(model)
    return replace(found, tree=tree, packed=update_packed(found.packed, found.tree, tree))


def _reduce(structure: Structure) -> tuple[Any, ...]:
    return structure_of, (structure.tree.model,)


# unpickling computes the structure again, or takes it from the cache there
copyreg.pickle(Structure, _reduce)


@lru_cache(maxsize=MOST_SHAPES)
def _found(shape: ModelTopology) -> Structure:
    return find_structure(shape.model)
