# SPDX-License-Identifier: Apache-2.0

"""Fitted parameters of a mechanism except the friction of driven joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.dynamics.parameters import OF_BODY
from robodyn.identification.friction import COULOMB, VISCOUS, Term, friction_columns
from robodyn.identification.motors import Motors
from robodyn.identification.samples import Samples
from robodyn.mechanism.functions import with_parameters

# Friction of joints behind the gear of a coupled motor; the friction of motors is in `friction.py`.
JOINT_FRICTION = (Term(VISCOUS), Term(COULOMB))
# Friction parameters of driven joints, which are not among the columns.
OF_FRICTION = ("viscous", "coulomb_forward", "coulomb_backward", "static")


class Columns:
    """Parameters of a fit except the friction of driven joints, and their regressor.

    Attributes:
        names: names of the columns: ten for each body, then rotors, passive dampers, and for each
            coupled motor its rotor and the friction of the joint behind its gear.
        given: (p,) values of the parameters in the model; 0 for those of coupled motors.
        own: indices of the mechanism's parameters to which the first columns belong; the columns of
            coupled motors follow.
        bodies: number of fitted bodies.
        positive: indices of the columns whose parameters cannot be negative.
    """

    def __init__(self, m: Any, motors: Motors, rotors: bool) -> None:
        self.mechanism, self.motors = m, motors
        parameters = m.parameters
        values, count = parameters.values, len(parameters.bodies)
        rows = values[: 10 * count].reshape(count, 10)
        has_mass = rows[:, 0].any()
        # a body modeled without mass, such as a universal joint's cross, stays massless
        bodies = [k for k in range(count) if rows[k].any() or not has_mass]
        own = [10 * k + part for k in bodies for part in range(len(OF_BODY))]
        for column in range(10 * count, len(values)):
            joint, part = parameters.names[column].rsplit(".", 1)
            of_friction = joint in m.joint_names and part in OF_FRICTION
            armature = part == "armature"
            if not of_friction and (rotors if armature else values[column] > 0.0):
                own.append(column)
        self.bodies, self.own = len(bodies), tuple(own)
        extra = [
            name
            for i in motors.coupled
            for name in (
                f"{motors.names[i]}.armature",
                *(f"{m.joint_names[i]}.{term.name} behind the gear" for term in JOINT_FRICTION),
            )
        ]
        self.names = (*(parameters.names[column] for column in own), *extra)
        self.given = np.concatenate([values[own], np.zeros(len(extra))])
        armatures = [n for n, name in enumerate(self.names) if name.endswith(".armature")]
        passive = range(10 * self.bodies, len(own))
        self.positive = tuple(sorted({*armatures, *passive}))

    def typical(self, bodies: FloatArray) -> FloatArray:
        """Compute prior values of the parameters that cannot be negative.

        They are, for example, rotor inertias and passive dampers.

        Args:
            bodies: (count, 10) physical parameters of the bodies, from which the joints' inertias
                are computed.

        Returns:
            Values (len(positive),), one for each parameter in `positive`: the model's value if it
            is positive, otherwise 2 % of the median inertia of the joints at home.
        """
        values = np.array(self.mechanism.parameters.values)
        values[list(self.own[: 10 * self.bodies])] = bodies.ravel()
        m = with_parameters(self.mechanism, values)
        inertia = np.diag(np.atleast_2d(m.mass_matrix(m.home)))
        fallback = 0.02 * float(np.median(inertia))
        values = self.given[list(self.positive)]
        return np.where(values > 0.0, values, fallback)

    def of(
        self,
        samples: Samples,
        rows: slice | IntArray = slice(None),
        kept: slice | list[int] = slice(None),
    ) -> FloatArray:
        """Compute the regressor of the fitted parameters at samples of a recording.

        Args:
            samples: motion of the mechanism.
            rows: indices of the K samples to evaluate; all by default.
            kept: indices of the p columns (parameters) to compute; all by default.

        Returns:
            Regressor (K, n, p): joint efforts [N or N m] per unit of each parameter.
        """
        m = self.mechanism
        own = m.regressor(*samples.motion_at(rows))[..., list(self.own)]
        if not self.motors.coupled:
            return np.asarray(own[..., kept])
        extra = []
        for i in self.motors.coupled:
            turns, joint = self.motors.turns[i], np.eye(len(m.joint_names))[i]
            extra.append((samples.joints.accelerations[rows] @ turns)[:, None] * turns)
            table = friction_columns(samples, JOINT_FRICTION, joint)
            extra += [column[rows, None] * joint for column in table.T]
        return np.concatenate([own, np.stack(extra, axis=-1)], axis=-1)[..., kept]

    def efforts(self, samples: Samples, kept: Sequence[int], values: FloatArray) -> FloatArray:
        """Compute the joint efforts at a recording's samples for given parameters.

        Args:
            samples: K samples of the motion of the mechanism.
            kept: indices of the b columns to which the parameters belong.
            values: (b,) parameters, or m sets of parameters (b, m).

        Returns:
            Efforts (K, n) [N or N m] of the joints, or (K, n, m) for m sets of parameters.
        """
        own = list(kept)
        return samples.evaluate_in_blocks(lambda rows: self.of(samples, rows, own) @ values)
