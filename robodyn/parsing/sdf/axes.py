# SPDX-License-Identifier: Apache-2.0

"""`<axis>` elements of an SDF's joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.formats.xml_elements import limit_from_file
from robodyn.model import NO_SPRING, Joint, LinearSpring, Mimic
from robodyn.parsing.sdf.frames import MODEL, SdfFrames

TRUE = ("true", "1")


@dataclass(frozen=True)
class Axis:
    """Axis of an SDF joint, with its limits, dynamics and coupling.

    Attributes:
        direction: (3,) unit vector in the frame of the child link.
        lower, upper, effort, velocity: limits [rad or m; N m or N; rad/s or m/s]; infinite for no
            limit.
        damping, friction: viscous damping [N m s/rad or N s/m] and Coulomb friction [N m or N].
        spring: spring on the axis.
        mimic: name of the leading joint, multiplier and offset; None for an independent axis.
        reference: [rad or m] joint position in the poses of the file.
    """

    direction: FloatArray
    lower: float = -np.inf
    upper: float = np.inf
    effort: float = np.inf
    velocity: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    spring: LinearSpring = NO_SPRING
    mimic: tuple[str, float, float] | None = None
    reference: float = 0.0

    @property
    def has_limits_or_friction(self) -> bool:
        """Whether the axis has limits, friction, a coupling or a spring.

        A loop closure supports none of them.
        """
        return bool(
            np.isfinite([self.lower, self.upper]).any()
            or self.friction
            or self.mimic
            or self.spring.acts
        )

    def following(self, name: str, multiplier: float) -> Axis:
        """Return an axis of the same direction that follows the joint `name` as a mimic.

        Its position is `multiplier` times that of the joint; it has no limits and no friction.
        """
        return Axis(self.direction, mimic=(name, multiplier, 0.0))

    def joint(
        self, made: Joint, references: Mapping[str, float], names: Mapping[str, str]
    ) -> Joint:
        """Create a joint that moves about or along the axis.

        The joint's position is zero in the poses of the file.

        Args:
            made: joint with name, kind, parent and child, but without axis and limits.
            references: [rad or m] positions of the leading joints in the poses of the file, by
                name.
            names: new names of renamed joints, by their names in the file.

        Returns:
            The joint with axis, limits, friction, coupling and spring.
        """
        own, mimic = self.reference, None
        if self.mimic is not None:
            leader, factor, offset = self.mimic
            offset += own - factor * references.get(leader, 0.0)
            mimic = Mimic(names.get(leader, leader), factor, offset)
        return replace(
            made,
            axis=self.direction,
            position=np.array([self.lower, self.upper]) + own,
            velocity=self.velocity or np.inf,
            effort=self.effort or np.inf,
            damping=self.damping,
            friction=np.full(2, self.friction),
            mimic=mimic,
            spring=self.spring.measured(1.0, -own),
        )

    @property
    def zero_limits(self) -> tuple[str, ...]:
        """Names of the limits that are 0: `effort`, `velocity`, both or none."""
        return tuple(name for name in ("effort", "velocity") if getattr(self, name) == 0.0)


def read_axis(
    frames: SdfFrames, name: str, tag: str, in_model: bool, reference: float = 0.0
) -> Axis:
    """Read an axis of an SDF joint, with its direction in the frame of the child link.

    Args:
        frames: frames of the model.
        name: name of the joint.
        tag: `axis` or `axis2`.
        in_model: whether directions are given in the model's frame, as before SDF 1.5.
        reference: [rad or m] joint position in the poses of the file.

    Returns:
        The axis.
    """
    joint, scope, where = frames.joints[name], frames.scope[name], f"joint {name!r}: {tag}"
    found = joint.find(tag)
    if found is None:
        raise frames.error(where, None, "an element with <xyz>")
    xyz = found.find("xyz")
    text = "0 0 1" if xyz is None else xyz.text or ""
    direction = np.array(frames.numbers(text, 3, f"{where} xyz"))
    length = float(np.linalg.norm(direction))
    if length < 1e-9:
        raise frames.error(f"{where} xyz", text.strip(), "a nonzero direction")
    frame = "" if xyz is None else xyz.get("expressed_in", "")
    if in_model or (found.findtext("use_parent_model_frame") or "").strip() in TRUE:
        frame = MODEL
    full = frames.resolved(frame, scope, f"{where} xyz: expressed_in") if frame else name
    child = frames.link_of(name)
    direction = direction / length

    def value(path: str, default: float) -> float:
        stated = found.findtext(path)
        if stated is None or not stated.strip():
            return default
        return frames.numbers(stated, 1, f"{where} {path}", infinite=True)[0]

    # a negative value means no limit
    effort, velocity = (value(f"limit/{key}", -1.0) for key in ("effort", "velocity"))
    return Axis(
        frames.relative(full, child)[:3, :3] @ direction,
        lower=limit_from_file(value("limit/lower", -np.inf)),
        upper=limit_from_file(value("limit/upper", np.inf)),
        effort=limit_from_file(effort) if effort >= 0.0 else np.inf,
        velocity=limit_from_file(velocity) if velocity >= 0.0 else np.inf,
        damping=value("dynamics/damping", 0.0),
        friction=value("dynamics/friction", 0.0),
        spring=LinearSpring(
            value("dynamics/spring_stiffness", 0.0), value("dynamics/spring_reference", 0.0)
        ),
        mimic=_mimic(frames, found.find("mimic"), scope, where),
        reference=reference,
    )


def _mimic(
    frames: SdfFrames, mimic: Element | None, scope: str, where: str
) -> tuple[str, float, float] | None:
    if mimic is None:
        return None
    where = f"{where}: mimic"
    leader = frames.resolved(mimic.get("joint", ""), scope, where)
    if leader not in frames.joints:
        raise frames.error(where, mimic.get("joint"), "the name of a joint")
    terms = {
        key: frames.numbers(mimic.findtext(key) or "0", 1, f"{where} {key}")[0]
        for key in ("multiplier", "offset", "reference")
    }
    if mimic.get("axis") == "axis2":
        leader += "_2"
    return leader, terms["multiplier"], terms["offset"] - terms["multiplier"] * terms["reference"]
