# SPDX-License-Identifier: Apache-2.0

"""A kind of mechanism that the package does not know: a pendulum on a cart, both driven.

The cart slides along x, the pendulum hangs from it and turns about the y axis of the base, its
angle counted so that a positive one takes the tip towards positive x. It has a YAML form,

    type: cart_pendulum
    cart: 2.0        # kg
    bob: 0.5         # kg, a point mass at the tip
    length: 0.4      # m

and a URDF form: a robot of the name `cart_pendulum`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

import robodyn as rd
from robodyn.algorithms import DrivenJoint, driven_joints
from robodyn.dynamics.joint_friction import joint_friction
from robodyn.formats import Fields
from robodyn.mechanism import NumpyDynamics
from robodyn.model import Joint, Link, Placement
from robodyn.poses import pose_from_rpy
from robodyn.presentation import Figure, Nouns, Shape, nouns_of, presentation, stick

GRAVITY = 9.81


@dataclass(frozen=True)
class Model:
    """Description of a cart pendulum."""

    cart: float
    bob: float
    length: float
    damping: float = 0.0
    inertia: float = 0.0
    source: str = field(default="", compare=False)
    gravity = np.array([0.0, 0.0, -GRAVITY])


class CartPendulum(NumpyDynamics):
    """The mechanism."""

    kind = "cart_pendulum"
    name = "cart and pendulum"
    frames = ("base_link", "bob")

    def __init__(self, model: Model) -> None:
        self.model = model

    @property
    def home(self):
        return np.array([0.1, 0.3])

    @property
    def size(self):
        return self.model.length

    @property
    def bodies(self):
        still = np.zeros((3, 3))
        return (
            Link("cart", self.model.cart, np.zeros(3), still),
            Link("bob", self.model.bob, np.array([0.0, 0.0, -self.model.length]), still),
        )

    def without_friction(self):
        return type(self)(replace(self.model, damping=0.0))

    def with_payload(self, mass, com=(0.0, 0.0, 0.0), inertia=None):
        turning = 0.0 if inertia is None else float(np.asarray(inertia)[1, 1])
        model = replace(self.model, bob=self.model.bob + mass, inertia=self.model.inertia + turning)
        return type(self)(model)

    def body_pose(self, configuration):
        x, angle = np.moveaxis(self.joint_positions(configuration), -1, 0)
        still, long = np.zeros_like(x), self.model.length
        xyz = np.stack([x + long * np.sin(angle), still, -long * np.cos(angle)], axis=-1)
        return pose_from_rpy(xyz, np.stack([still, -angle, still], axis=-1))

    def jacobian(self, configuration):
        _, angle = np.moveaxis(self.joint_positions(configuration), -1, 0)
        J = np.zeros((*angle.shape, 6, 2))
        J[..., 0, 0] = 1.0
        J[..., 0, 1] = self.model.length * np.cos(angle)
        J[..., 2, 1] = self.model.length * np.sin(angle)
        J[..., 4, 1] = -1.0
        return J

    def mass_matrix(self, configuration):
        _, angle = np.moveaxis(self.joint_positions(configuration), -1, 0)
        m, long = self.model.bob, self.model.length
        M = np.empty((*angle.shape, 2, 2))
        M[..., 0, 0] = self.model.cart + m
        M[..., 0, 1] = M[..., 1, 0] = m * long * np.cos(angle)
        M[..., 1, 1] = m * long**2 + self.model.inertia
        return M

    def bias(self, configuration, velocity):
        _, angle = np.moveaxis(self.joint_positions(configuration), -1, 0)
        speed, rate = np.moveaxis(self.joint_velocities(configuration, velocity), -1, 0)
        m, long = self.model.bob, self.model.length
        along = self.model.damping * speed - m * long * np.sin(angle) * rate**2
        about = m * GRAVITY * long * np.sin(angle) + 0.0 * rate
        return np.stack([along, about], axis=-1)


JOINTS = (
    DrivenJoint("slider", "m", (-1.0, 1.0), velocity=5.0, effort=200.0),
    DrivenJoint("hinge", "rad", (-2.0, 2.0), velocity=20.0, effort=50.0),
)
NOUNS = Nouns(mechanism="cart-pendulum", joint="joint", body="bob", effort="effort")
driven_joints.register(CartPendulum, lambda _: JOINTS)
nouns_of.register(CartPendulum, lambda _: NOUNS)


@joint_friction.register
def _joint_friction(crane: CartPendulum) -> tuple:
    return ({"damping": crane.model.damping}, {"damping": 0.0})


@presentation.figure.register
def _figure(crane: CartPendulum) -> Figure:
    """A stick from the cart to the bob, both drawn as spheres."""
    end = np.array([0.0, 0.0, -crane.model.length])
    joints = [
        Joint("slider", "prismatic", "base_link", "cart"),
        Joint("hinge", "revolute", "cart", "rod", axis=np.array([0.0, -1.0, 0.0])),
        Joint("tip", "fixed", "rod", "bob", Placement(translation=end)),
    ]
    ball = Shape("bob", "sphere", (0.05,), np.eye(4))
    block = Shape("cart", "box", (0.2, 0.1, 0.1), np.eye(4))
    return Figure(joints, [*stick("rod", end, 0.01), ball, block])


def from_yaml(document, source, options):
    fields = Fields(document, source)
    fields.only("type", "cart", "bob", "length", "damping")
    masses = [fields.number(name, "kg", above=0.0) for name in ("cart", "bob")]
    length = fields.number("length", "m", above=0.0)
    damping = fields.number("damping", "N s/m", default=0.0, at_least=0.0)
    return CartPendulum(Model(*masses, length, damping, source=source))


def recognizes(builder):
    return builder.name == "cart_pendulum"


def from_urdf(builder, options):
    masses = [builder.links[name].mass for name in ("cart", "bob")]
    length = -builder.joints["tip"].at.translation[2]
    return CartPendulum(Model(*masses, length, source=builder.source))


URDF = """<robot name="cart_pendulum">
  <link name="base_link"/>
  <link name="cart"><inertial><mass value="{cart}"/><inertia ixx="0.01" ixy="0" ixz="0"
    iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <link name="rod"/>
  <link name="bob"><inertial><mass value="{bob}"/><inertia ixx="0" ixy="0" ixz="0"
    iyy="0" iyz="0" izz="0"/></inertial></link>
  <joint name="slider" type="prismatic"><parent link="base_link"/><child link="cart"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="200" velocity="5"/></joint>
  <joint name="hinge" type="revolute"><parent link="cart"/><child link="rod"/>
    <axis xyz="0 -1 0"/><limit lower="-2" upper="2" effort="50" velocity="20"/></joint>
  <joint name="tip" type="fixed"><parent link="rod"/><child link="bob"/>
    <origin xyz="0 0 {down}"/></joint>
</robot>
"""


def to_urdf(mechanism):
    model = mechanism.model
    return URDF.format(cart=model.cart, bob=model.bob, down=-model.length)


KIND = rd.Kind(
    "cart_pendulum",
    from_yaml=from_yaml,
    recognizes_urdf=recognizes,
    from_urdf=from_urdf,
    to_urdf=to_urdf,
)
