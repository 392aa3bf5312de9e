# SPDX-License-Identifier: Apache-2.0

"""Legs of a platform as objects, for tests that read and change them; made of the short form."""

import warnings
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

import numpy as np

import robodyn as rd
from robodyn.algorithms import gravity_vector
from robodyn.errors import UnphysicalInertiaWarning
from robodyn.model import NO_SPRING, Body, LinearSpring, differences
from robodyn.parsing import actuator_fields, body_fields
from robodyn.poses import rpy_from_pose
from robodyn.solvers.stewart.description.yaml_form import FLOATING, short_form

IDEAL = rd.Actuator()


@dataclass(frozen=True)
class Damping:
    universal: float = 0.0
    prismatic: float = 0.0
    spherical: float = 0.0


@dataclass(frozen=True)
class LegLimits:
    length: tuple = (0.0, np.inf)
    velocity: float = np.inf
    effort: float = np.inf
    universal_1: tuple = (-np.inf, np.inf)
    universal_2: tuple = (-np.inf, np.inf)


class JointReading(NamedTuple):
    name: str
    sign: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Leg:
    """A leg in natural terms: `spring` is of its length, `reading` of its actuator's joint."""

    base: np.ndarray
    platform: np.ndarray
    universal_axis: np.ndarray
    lower: Body
    upper: Body
    damping: Damping = Damping()
    limits: LegLimits = LegLimits()
    actuator: rd.Actuator = IDEAL
    armature: float = 0.0
    spring: LinearSpring = NO_SPRING
    reading: JointReading | None = field(default=None, compare=False)

    def __post_init__(self):
        for name in ("base", "platform", "universal_axis"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=float))
        axis = self.universal_axis / np.linalg.norm(self.universal_axis)
        object.__setattr__(self, "universal_axis", axis)

    def fields(self):
        limits = {name: np.array(value) for name, value in asdict(self.limits).items()}
        out = {
            "base": self.base.tolist(),
            "platform": self.platform.tolist(),
            "universal_axis": self.universal_axis.tolist(),
            "lower": body_fields(self.lower),
            "upper": body_fields(self.upper),
            "damping": {name: float(value) for name, value in asdict(self.damping).items()},
            "limits": {k: ends.tolist() for k, ends in limits.items() if np.isfinite(ends).all()},
            "actuator": actuator_fields(self.actuator),
            "armature": float(self.armature),
        }
        return out if self.reading is None else out | {"reading": self.reading._asdict()}


@dataclass(frozen=True, eq=False)
class SixLegs:
    """A platform; equal to another if all numbers are within rounding."""

    name: str = field(compare=False)
    platform: Body
    legs: tuple
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    home: np.ndarray | None = None
    base_cone: float = np.inf
    body_cone: float = np.inf
    springs: tuple = field(default=(), compare=False)

    def __eq__(self, other):
        return not differences(self, other, 1e-12)

    __hash__ = None

    def document(self):
        """The document that is loaded."""
        out = {
            "type": "stewart",
            "name": self.name,
            "gravity": np.asarray(self.gravity).tolist(),
            "platform": body_fields(self.platform),
            "legs": [leg.fields() for leg in self.legs],
        }
        if self.home is not None:
            xyz, rpy = rpy_from_pose(self.home)
            out["home"] = {"xyz": xyz.tolist(), "rpy": rpy.tolist()}
        sprung = [leg for leg in self.legs if leg.spring.acts]
        if sprung:
            out["joints"] = {
                leg.reading.name: {"spring": asdict(leg.spring.measured(*leg.reading[1:]))}
                for leg in sprung
            }
        cones = {name: getattr(self, name) for name in ("base_cone", "body_cone")}
        out |= {name: cone for name, cone in cones.items() if np.isfinite(cone)}
        return out | ({"springs": list(self.springs)} if self.springs else {})

    def model(self):
        """The model, its home to the bit."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnphysicalInertiaWarning)
            model = rd.load(self.document()).model
        return model if self.home is None else model.with_home({FLOATING: self.home})

    def made(self):
        return rd.StewartPlatform(self.model())


def six_legs(platform):
    """The legs of a platform."""
    document = short_form(platform)
    bodies = [Body(body.mass, body.com, body.inertia) for body in platform.bodies]
    legs = []
    for k, (leg, given) in enumerate(zip(platform.structure.legs, document["legs"], strict=True)):
        limits = given.get("limits", {})
        legs.append(
            Leg(
                given["base"],
                given["platform"],
                given["universal_axis"],
                bodies[1 + k],
                bodies[7 + k],
                Damping(**given["damping"]),
                LegLimits(**{n: tuple(v) if isinstance(v, list) else v for n, v in limits.items()}),
                leg.actuator(platform.model),
                given.get("armature", 0.0),
                leg.spring(platform.model),
                JointReading(**given["reading"]),
            )
        )
    return SixLegs(
        platform.name,
        bodies[0],
        tuple(legs),
        gravity_vector(platform),
        platform.structure.home,
        platform.model.base_cone,
        platform.model.body_cone,
        tuple(document.get("springs", ())),
    )


def with_legs(platform, legs):
    """The same platform with other legs."""
    model = replace(six_legs(platform), legs=tuple(legs)).model()
    return type(platform)(model, platform.base_joint)
