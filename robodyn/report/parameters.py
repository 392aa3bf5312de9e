# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A mechanism's numbers as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.report.numbers_as_text import number, vector

if TYPE_CHECKING:
    from robodyn.mechanisms.protocol import Mechanism

Table = tuple[str, list[str], list[list[str]]]


def parameter_tables(mechanism: Mechanism) -> list[Table]:
    """Title, header and rows of each table of a mechanism's parameters."""
    model: Any = mechanism.model  # type: ignore[attr-defined]
    if mechanism.kind == "stewart":
        return [_bodies(model), _legs(model)]
    return [_links(model)]


def _bodies(model: Any) -> Table:
    bodies = [("platform", model.platform)]
    for part in ("lower", "upper"):
        each = [getattr(leg, part) for leg in model.legs]
        if all(_same(each[0], other) for other in each[1:]):
            bodies.append((f"{part} part of every leg", each[0]))
        else:
            bodies += [(f"{part} part of leg {i}", body) for i, body in enumerate(each, start=1)]
    rows = [
        [name, number(body.mass), vector(body.com), "; ".join(vector(r) for r in body.inertia)]
        for name, body in bodies
    ]
    head = ["body", "mass [kg]", "centre of mass [m]", "inertia about it, by rows [kg m²]"]
    return f"Bodies (gravity {vector(model.gravity)} m/s²)", head, rows


def _same(a: Any, b: Any) -> bool:
    return bool(a.mass == b.mass and (a.com == b.com).all() and (a.inertia == b.inertia).all())


def _legs(model: Any) -> Table:
    rows = []
    for i, leg in enumerate(model.legs, start=1):
        damping, limits = leg.damping, leg.limits
        friction = [damping.universal, damping.prismatic, damping.spherical]
        rows.append([
            str(i), vector(leg.base), vector(leg.platform), vector(leg.universal_axis),
            vector(friction), vector(limits.length), number(limits.velocity),
            number(limits.effort)])  # fmt: skip
    head = ["leg", "base joint [m]", "platform joint [m]", "universal axis",
            "friction u, p, s [N m s, N s/m]", "length [m]", "speed [m/s]",
            "force [N]"]  # fmt: skip
    return "Legs", head, rows


def _links(model: Any) -> Table:
    rows = [
        [
            joint.name, joint.kind, number(joint.mass), vector(joint.com),
            "; ".join(vector(r) for r in joint.inertia), number(joint.armature),
            number(joint.damping), vector(joint.friction), vector(joint.position),
            number(joint.velocity), number(joint.effort),
        ]
        for joint in model.joints
    ]  # fmt: skip
    head = ["joint", "kind", "mass [kg]", "centre of mass [m]", "inertia about it [kg m²]",
            "armature [kg m², kg]", "damping [N m s, N s/m]", "friction +/− [N m, N]",
            "range [rad, m]", "speed [rad/s, m/s]", "effort [N m, N]"]  # fmt: skip
    return f"Links (gravity {vector(model.gravity)} m/s²)", head, rows
