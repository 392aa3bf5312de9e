# SPDX-License-Identifier: Apache-2.0

"""Builder of a model, filled by the readers of descriptions."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from robodyn.arrays import ArrayLike
from robodyn.checks import check_tree
from robodyn.errors import ModelError, warn
from robodyn.model.body import Link
from robodyn.model.closure import Closure
from robodyn.model.fields import GRAVITY, copy_unchecked, frozen
from robodyn.model.joint import Joint, Mimic
from robodyn.model.model import Model
from robodyn.model.spring import PointSpring
from robodyn.model.zero_configuration import ZeroConfigurationTree

T = TypeVar("T")


@dataclass(frozen=True)
class Drives:
    """Names of the joints with actuators in a description, by type of interface.

    Attributes:
        effort: joints with effort commands.
        transmitted: joints with a transmission.
        commanded: joints with any command interface.
    """

    effort: tuple[str, ...] = ()
    transmitted: tuple[str, ...] = ()
    commanded: tuple[str, ...] = ()

    @classmethod
    def of(cls, driven: Sequence[str]) -> Drives:
        """Create `Drives` in which only the given joints have effort commands."""
        return cls(tuple(driven), (), tuple(driven))

    @property
    def driven(self) -> tuple[str, ...]:
        """Driven joints: those with effort commands, else transmissions, else any command."""
        return self.effort or self.transmitted or self.commanded

    @property
    def actuated(self) -> frozenset[str]:
        """All joints with an actuator; empty if the description has none."""
        return frozenset((*self.commanded, *self.transmitted))


@dataclass
class ModelBuilder:
    """Builder that collects the parts of a model before they are checked as a whole.

    Attributes:
        name: name of the mechanism.
        source: source of the description, for messages.
        kind: kind of mechanism; empty if the description does not state one.
        links, joints: by name, in the order of the description.
        closures: in the order of the description.
        springs: springs between points of links.
        drives: joints with actuators.
        independent: names of the independent joints.
        weights: effort weights of the driven joints.
        base_link, tip_link: ends of the mechanism; empty if the description states none.
        gravity: (3,) [m/s^2] in the frame of `base_link`, or of the root; None for 9.81 m/s^2
            downwards.
        home: by joint, position (1,) [rad or m] or pose (7,) near which the loops close.
        base_cone, body_cone: [rad] largest angles of the joints at the legs' ends.
        links_with_inertia: names of the links with an inertia in the description.
        zero_limits: names of the limits that are 0 in the description, by joint.
    """

    name: str
    source: str
    kind: str = ""
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    closures: list[Closure] = field(default_factory=list)
    springs: list[PointSpring] = field(default_factory=list)
    drives: Drives = field(default_factory=Drives)
    independent: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    base_link: str = ""
    tip_link: str = ""
    gravity: ArrayLike | None = None
    home: dict[str, tuple[float, ...]] = field(default_factory=dict)
    base_cone: float = np.inf
    body_cone: float = np.inf
    links_with_inertia: set[str] = field(default_factory=set)
    zero_limits: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, *parts: Link | Joint | Closure) -> None:
        """Add links, joints and closures to the model under construction.

        Raises:
            ModelError: two elements of the same type have the same name.
        """
        for part in parts:
            if isinstance(part, Link):
                self._refuse_duplicate("link", part.name, self.links)
                self.links[part.name] = part
            elif isinstance(part, Joint):
                self._refuse_duplicate("joint", part.name, self.joints)
                self.joints[part.name] = part
            else:
                self.closures.append(part)

    def _refuse_duplicate(self, what: str, name: str, known: Container[str]) -> None:
        if name in known:
            raise ModelError(f"{self.source}: two {what}s are named {name!r}", value=name)

    def reorder(self, links: Iterable[str] = (), joints: Iterable[str] = ()) -> None:
        """Sort links and joints in the order of given names.

        Unlisted links and joints stay behind their listed predecessors.
        """
        self.links = _order(self.links, links)
        self.joints = _order(self.joints, joints)

    def check_tree(self) -> None:
        """Raise an error unless the joints connect the links into a single tree.

        Raises:
            ModelError: the error names the link or the joint.
        """
        check_tree(self.source, list(self.links), list(self.joints.values()))

    @contextmanager
    def error_source(self) -> Iterator[None]:
        """Add the name of the source to a `ModelError` raised within this context.

        Raises:
            ModelError: the same error, with the source in its message.
        """
        try:
            yield
        except ModelError as error:
            if str(error).startswith(self.source):
                raise
            raise ModelError(f"{self.source}: {error}", value=error.value) from error

    @property
    def actuated(self) -> tuple[str, ...]:
        """Names of the joints with an actuator, in order; empty if there are none.

        The actuator of a mimic joint belongs to the joint that it follows.
        """
        moved = set(self.drives.actuated)
        for name in self.drives.actuated:
            joint = self.joints.get(name)
            for _ in self.joints:  # mimics of mimics; a cycle ends this loop, too
                if joint is None or joint.mimic is None:
                    break
                moved.add(joint.mimic.joint)
                joint = self.joints.get(joint.mimic.joint)
        return tuple(name for name in self.joints if name in moved)

    def model(
        self,
        tip_link: str | None = None,
        *,
        driven: Sequence[str] | None = None,
        home: Mapping[str, ArrayLike] | None = None,
        spelling: Callable[[str, str], str] = "{}={!r}".format,
    ) -> Model:
        """Create the model from the collected links, joints, closures and springs.

        Args:
            tip_link: link with the tool; by default the last link at which the tree ends, or else
                the one at which most closures meet. A closed loop chooses among them by their
                degrees of freedom, see `closed_loop.default_tip`.
            driven: names of the driven joints; by default those of `drives`, or else those with an
                effort limit, as passive joints have none.
            home: positions near which the loops close, instead of those of the description.
            spelling: function that spells the option for the driven joints in messages.

        Returns:
            The model.

        Raises:
            ModelError: a name is unknown, no joint is driven, or closures are invalid.
        """
        with self.error_source():
            joints = _with_leaders(list(self.joints.values()))
            named = self._driven(joints) if driven is None else tuple(driven)
            joints, named = _with_driven_leaders(joints, named, self.source)
            known = {joint.name for joint in joints if joint.moves}
            if not named and known:
                alone = [joint.name for joint in joints if joint.moves_alone]
                raise ModelError(
                    "no joint is driven; name the driven joints, such as "
                    f"{spelling('driven', next(iter(alone or known)))}; or, in a URDF, give "
                    "joints an effort command interface in <ros2_control>, a <transmission> or an "
                    "effort limit above 0; or, in MJCF, an <actuator>",
                    value=named,
                )
            tip = tip_link or self.tip_link or "".join(end_links(joints, self.closures)[-1:])
            guess = self.home if home is None else home
            model = Model(
                name=self.name,
                links=tuple(self.links.values()),
                joints=tuple(joints),
                closures=tuple(self.closures),
                springs=tuple(self.springs),
                driven=named,
                independent=self.independent,
                tip_link=tip,
                home=tuple(
                    (name, tuple(np.atleast_1d(np.asarray(value, dtype=float)).tolist()))
                    for name, value in guess.items()
                    if home is not None or name in known
                ),
                weights=self.weights,
                base_cone=self.base_cone,
                body_cone=self.body_cone,
            )
        where = f"{self.source or self.name}: gravity"
        gravity = GRAVITY if self.gravity is None else frozen(where, self.gravity, (3,), "m/s^2")
        if self.gravity is not None and self.base_link in self.links:
            seat = ZeroConfigurationTree(model).relative(self.base_link, model.base_link)
            gravity = seat[:3, :3] @ gravity
        return copy_unchecked(model, gravity=gravity, source=self.source)

    def _driven(self, joints: Sequence[Joint]) -> tuple[str, ...]:
        fixed = {joint.name for joint in joints if joint.kind == "fixed"}
        drives = self.drives
        named = tuple(name for name in drives.driven if name not in fixed)
        for name in () if drives.effort else fixed.intersection(drives.driven):
            warn(f"{self.source}: ignored the <transmission> of joint {name!r}, which is fixed")
        if named or drives.effort:
            return drives.effort or named
        own = [joint for joint in joints if joint.moves_alone]
        strong = tuple(joint.name for joint in own if np.isfinite(joint.effort))
        if strong or self.closures:
            return strong
        return tuple(joint.name for joint in own)


def _order(parts: dict[str, T], names: Iterable[str]) -> dict[str, T]:
    order = {name: n for n, name in enumerate(dict.fromkeys(names))}
    key, keys = -1, {}
    for name in parts:
        keys[name] = key = order.get(name, key)
    return {name: parts[name] for name in sorted(parts, key=keys.__getitem__)}


def end_links(joints: Sequence[Joint], closures: Sequence[Closure]) -> tuple[str, ...]:
    """Return the candidates for the tip link.

    Returns:
        The link at which most loop closures meet, if any, then the leaf links of the tree without
        closures.
    """
    parents = {joint.parent for joint in joints}
    ends = [joint.child for joint in joints if joint.child not in parents]
    closed = [link for closure in closures for link in (closure.parent, closure.child)]
    moving = [joint.child for joint in joints]

    def rank(link: str) -> tuple[int, bool, int]:
        return closed.count(link), link in ends, moving.index(link)

    meeting = [max(moving, key=rank)] if closed and moving else []
    return tuple(dict.fromkeys([*meeting, *(link for link in ends if link not in closed)]))


def _with_leaders(joints: Sequence[Joint]) -> list[Joint]:
    """Return the joints with every mimic relation rewritten to an independent joint.

    Raises:
        ModelError: mimic joints form a cycle.
    """
    known = {joint.name: joint for joint in joints}
    return [
        joint if joint.mimic is None else replace(joint, mimic=_leader(joint, joint.mimic, known))
        for joint in joints
    ]


def _leader(joint: Joint, mimic: Mimic, known: dict[str, Joint]) -> Mimic:
    passed = [joint.name]
    while (leader := known.get(mimic.joint)) is not None and leader.mimic is not None:
        passed.append(leader.name)
        if leader.mimic.joint in passed:
            raise ModelError(
                f"mimic joints {', '.join(map(repr, passed))} form a cycle; one of them must not "
                "mimic another joint",
                value=passed,
            )
        mimic = _compose_mimics(mimic, leader.mimic)
    return mimic


def _compose_mimics(mimic: Mimic, other: Mimic) -> Mimic:
    """Combine two successive mimic relations into one."""
    factor = mimic.multiplier
    return Mimic(other.joint, factor * other.multiplier, factor * other.offset + mimic.offset)


def _with_driven_leaders(
    joints: Sequence[Joint], driven: Sequence[str], source: str
) -> tuple[list[Joint], tuple[str, ...]]:
    """Make driven joints independent; return all joints and the driven joints' names.

    A driven mimic joint swaps roles with the undriven joint that it follows, because their motions
    determine each other. The actuator of a joint that mimics a driven joint is left out with a
    warning: a mechanism has one effort for each degree of freedom of its joints.
    """
    known = {joint.name: joint for joint in joints}
    kept = []
    for name in driven:
        mimic = known[name].mimic if name in known else None
        if mimic is None:
            kept.append(name)
            continue
        if mimic.joint in driven or mimic.multiplier == 0.0 or mimic.joint not in known:
            warn(
                f"{source}: joint {name!r}: ignored its actuator, as the joint follows "
                f"{mimic.joint!r}{', which is driven' if mimic.joint in driven else ''}"
            )
            continue
        factor = 1.0 / mimic.multiplier
        back = Mimic(name, factor, -mimic.offset * factor)
        for other in known.values():
            if other.name == name:
                known[name] = replace(other, mimic=None)
            elif other.name == mimic.joint:
                known[other.name] = replace(other, mimic=back)
            elif other.mimic is not None and other.mimic.joint == mimic.joint:
                known[other.name] = replace(other, mimic=_compose_mimics(other.mimic, back))
        kept.append(name)
    return list(known.values()), tuple(kept)
