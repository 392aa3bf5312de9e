# SPDX-License-Identifier: Apache-2.0

"""Driven joints, tendons and couplings of an MJCF file.

Equalities between joints, or between fixed tendons over joints, couple the joints linearly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import warn
from robodyn.model.spring import NO_SPRING, LinearSpring
from robodyn.parsing.mjcf.compiled import JOINTS, CompiledModel

# Largest number of names in one message.
NAMED = 8


class Coupling(NamedTuple):
    """Linear coupling: a joint's position = factor * (position of `joint`) + offset [rad or m]."""

    joint: int
    factor: float
    offset: float


class Couplings:
    """Linear couplings of joints to other joints in an MJCF file.

    Args:
        compiled: compiled file.

    Attributes:
        follows: couplings by the index of the dependent joint.

    Raises:
        ModelError: an equality does not couple two joints; the error names it.
    """

    def __init__(self, compiled: CompiledModel) -> None:
        self._compiled, self._model = compiled, compiled.model
        model, mujoco = compiled.model, compiled.mujoco
        self.follows: dict[int, Coupling] = {}
        kinds = mujoco.mjtEq
        for n in compiled.equalities:
            kind = int(model.eq_type[n])
            if kind in (int(kinds.mjEQ_JOINT), int(kinds.mjEQ_TENDON)):
                self._add(n, kind == int(kinds.mjEQ_TENDON))

    def sites_of(self, tendon: int) -> list[int]:
        """Return the site indices of a tendon between two sites; empty for other tendons."""
        model, first = self._model, int(self._model.tendon_adr[tendon])
        wraps = range(first, first + int(model.tendon_num[tendon]))
        of_site = int(self._compiled.mujoco.mjtWrap.mjWRAP_SITE)
        straight = len(wraps) == 2 and all(int(model.wrap_type[w]) == of_site for w in wraps)
        return [int(model.wrap_objid[w]) for w in wraps] if straight else []

    def joints_of(self, tendon: int) -> dict[int, float]:
        """Return a fixed tendon's coefficients by joint index; empty for other tendons."""
        model, first = self._model, int(self._model.tendon_adr[tendon])
        wraps = range(first, first + int(model.tendon_num[tendon]))
        of_joint = int(self._compiled.mujoco.mjtWrap.mjWRAP_JOINT)
        if any(int(model.wrap_type[w]) != of_joint for w in wraps):
            return {}
        found: dict[int, float] = {}
        for w in wraps:
            joint = int(model.wrap_objid[w])
            found[joint] = found.get(joint, 0.0) + float(model.wrap_prm[w])
        return found

    def leader(self, joint: int) -> Coupling:
        """Return the coupling of a joint, by its index, to an independent joint.

        An independent joint is coupled to itself with factor 1 and offset 0.
        """
        found = Coupling(joint, 1.0, 0.0)
        while found.joint in self.follows:
            after = self.follows[found.joint]
            offset = found.factor * after.offset + found.offset
            found = Coupling(after.joint, found.factor * after.factor, offset)
        return found

    def reduced(self, terms: dict[int, float]) -> tuple[dict[int, float], float]:
        """Express a weighted sum of joint positions in terms of independent joints.

        Args:
            terms: weights by joint index.

        Returns:
            The weights by index of the independent joint, and the constant term.
        """
        out: dict[int, float] = {}
        constant = 0.0
        for joint, factor in terms.items():
            leader = self.leader(joint)
            out[leader.joint] = out.get(leader.joint, 0.0) + factor * leader.factor
            constant += factor * leader.offset
        return {joint: factor for joint, factor in out.items() if factor}, constant

    def _add(self, n: int, of_tendons: bool) -> None:
        model, data = self._model, self._model.eq_data[n]
        if np.any(data[2:5]):
            what = "tendons" if of_tendons else "joints"
            raise self._compiled.refuse(
                "equality", n, f"polynomial of {what}; only polycoef with two numbers is supported"
            )
        # constant + factor (second - its start) - (first - its start) = 0
        terms: dict[int, float] = {}
        constant = float(data[0])
        for number, factor in ((model.eq_obj1id[n], -1.0), (model.eq_obj2id[n], float(data[1]))):
            if number < 0:
                continue
            own = self.joints_of(int(number)) if of_tendons else {int(number): 1.0}
            if not own:
                raise self._compiled.refuse(
                    "equality",
                    n,
                    "it refers to a tendon that is not <fixed>; only fixed tendons are supported",
                )
            for joint, coefficient in own.items():
                start = float(model.qpos0[model.jnt_qposadr[joint]])
                terms[joint] = terms.get(joint, 0.0) + factor * coefficient
                constant -= factor * coefficient * start
        left, more = self.reduced(terms)
        if not left:
            return
        if len(left) == 1:
            raise self._compiled.refuse("equality", n, "it fixes a joint; remove the joint instead")
        if len(left) > 2:
            names = ", ".join(repr(self._compiled.name("joint", joint)) for joint in left)
            raise self._compiled.refuse(
                "equality", n, f"couples {len(left)} joints, {names}; only two are supported"
            )
        (first, of_first), (second, of_second) = left.items()
        offset = -(constant + more) / of_first
        self.follows[first] = Coupling(second, -of_second / of_first, offset)


# MuJoCo arrays in which an actuator that is no <motor> differs from 0.
LAWS = ("biastype", "dyntype", "gaintype", "delay")


class MjcfDrives:
    """Actuators and tendons of an MJCF file as properties of joints.

    An actuator on a fixed tendon drives the joint on which all of the tendon's joints depend; the
    tendon's coefficients act as a gear ratio.

    Args:
        compiled: compiled file.
        couplings: couplings between joints.

    Attributes:
        limits: least and largest effort [N m or N] of each driven joint, infinite for no limit.
        range: (njnt, 2) [rad or m] position limits.
        damping, friction, armature: (njnt,) values of the joints, including those of tendons and
            actuators.
        springs: spring on each joint, including those from tendons.
        point_springs: law, damping [N s/m] and whether the spring only pulls, for each tendon that
            is a spring between two sites; a tendon that may be slack and has damping becomes two
            springs.

    Raises:
        ModelError: the error names the unsupported actuator or tendon.
    """

    def __init__(self, compiled: CompiledModel, couplings: Couplings) -> None:
        self._compiled, self._couplings = compiled, couplings
        model = self._model = compiled.model
        dofs = model.jnt_dofadr
        self.damping = np.array(model.dof_damping[dofs])
        self.friction = np.array(model.dof_frictionloss[dofs])
        self.armature = np.array(model.dof_armature[dofs])
        at = model.jnt_qposadr
        self.springs = [
            LinearSpring(*pair) if JOINTS[kind] in ("hinge", "slide") else NO_SPRING
            for kind, *pair in zip(
                model.jnt_type, model.jnt_stiffness, model.qpos_spring[at], strict=True
            )
        ]
        limited = np.array(model.jnt_limited, dtype=bool)
        self.range = np.where(limited[:, None], model.jnt_range, [-np.inf, np.inf])
        self.limits: dict[int, tuple[float, float]] = {}
        self.point_springs: dict[int, list[tuple[LinearSpring, float, bool]]] = {}
        for n in range(model.ntendon):
            self._tendon(n)
        # actuators can have several controls from MuJoCo 3.12 on
        self._actuators = range(getattr(model, "nactuator", model.nu))
        for n in self._actuators:
            joint, (least, largest) = self._actuator(n)
            if joint < 0:
                continue
            low, high = self.limits.get(joint, (np.inf, -np.inf))
            self.limits[joint] = min(low, least), max(high, largest)
        self._warn_of_servos()

    def _tendon(self, n: int) -> None:
        """Convert a tendon to a point spring, or add its properties to the joint it moves.

        A tendon that moves several independent joints is rejected or left out.
        """
        model = self._model
        properties = {
            key: np.array(self._compiled.entry(f"tendon_{key}", n))
            for key in ("stiffness", "damping", "limited", "frictionloss", "armature")
        }
        self._compiled.leave_out_curve("tendon", n, "tendon_damping")
        if not any(np.any(value) for value in properties.values()):
            return
        low, high = model.tendon_lengthspring[n]
        others = any(np.any(properties[key]) for key in ("limited", "frictionloss", "armature"))
        others |= bool(np.any(self._compiled.entry("tendon_stiffnesspoly", n)))
        slack = low == 0.0 < high
        if self._couplings.sites_of(n) and (low == high or slack) and not others:
            stiffness, damping = (
                float(np.ravel(properties[key])[0]) for key in ("stiffness", "damping")
            )
            law = LinearSpring(stiffness, float(high))
            found = [(law, 0.0, True), (NO_SPRING, damping, False)]  # dampers are never slack
            one = [(law, damping, False)]
            self.point_springs[n] = found[: 1 + bool(damping)] if slack and stiffness else one
            return
        left, constant = self._couplings.reduced(self._couplings.joints_of(n))
        alone = len(left) == 1
        drags = any(np.any(properties[key]) for key in ("damping", "frictionloss", "armature"))
        if drags and not alone:
            raise self._compiled.refuse(
                "tendon", n,
                "it has damping, friction or armature and spans several free joints or none; "
                "give these to its joints, or couple the joints by an <equality>",
            )  # fmt: skip
        out = [key for key in ("stiffness", "limited") if np.any(properties[key])]
        if alone:
            ((joint, factor),) = left.items()
            self._compiled.leave_out_curve("tendon", n, "tendon_stiffness")
            self.damping[joint] += factor**2 * float(np.ravel(properties["damping"])[0])
            self.armature[joint] += factor**2 * float(properties["armature"])
            self.friction[joint] += abs(factor) * float(properties["frictionloss"])
            if properties["stiffness"].any() and low == high:
                stiffness = factor**2 * float(np.ravel(properties["stiffness"])[0])
                own = LinearSpring(stiffness, float(low - constant) / factor)
                self.springs[joint] = self.springs[joint].plus(own)
                out.remove("stiffness")
            if properties["limited"]:
                ends = np.sort((model.tendon_range[n] - constant) / factor)
                low, high = self.range[joint]
                self.range[joint] = max(low, ends[0]), min(high, ends[1])
                out.remove("limited")
        if "stiffness" in out:
            self._leave_out_spring(n, "with a range of lengths" if alone else "of several joints")
        if "limited" in out:
            self._compiled.leave_out("tendon", n, "its limits, which apply to several joints")

    def _leave_out_spring(self, n: int, reason: str) -> None:
        """Warn that a tendon's spring is ignored; list the efforts it would cause at home."""
        model, mujoco = self._model, self._compiled.mujoco
        data, stiffness = mujoco.MjData(model), np.array(model.tendon_stiffness[n])
        data.qpos = model.qpos0 if self.home is None else self.home
        for compute in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_tendon):
            compute(model, data)
        sides = []
        for model.tendon_stiffness[n] in (0.0, stiffness):
            mujoco.mj_passive(model, data)
            sides.append(np.array(data.qfrc_spring))
        missing = sides[0] - sides[1]
        listed = ", ".join(
            f"{missing[dof]:.4g} at {self._compiled.name('joint', int(model.dof_jntid[dof]))!r}"
            for dof in np.flatnonzero(missing)[:NAMED]
        )
        self._compiled.leave_out(
            "tendon", n,
            f"its spring {reason}, of stiffness {float(np.ravel(stiffness)[0]):g}; the efforts at "
            f"home lack {listed or 'nothing'} [N, N m]",
        )  # fmt: skip

    def _actuator(self, n: int) -> tuple[int, tuple[float, float]]:
        """Return the index of the joint that actuator n drives, and its effort limits.

        The index is -1 if the actuator is left out.
        """
        model, kinds = self._model, self._compiled.mujoco.mjtTrn
        moved, target = int(model.actuator_trntype[n]), int(model.actuator_trnid[n, 0])
        gear = float(model.actuator_gear[n, 0])
        if moved == int(kinds.mjTRN_TENDON):
            joint, factor = self._end_of(n, target)
            gear *= factor
        elif moved in (int(kinds.mjTRN_JOINT), int(kinds.mjTRN_JOINTINPARENT)):
            joint = target
            kind = JOINTS[model.jnt_type[joint]]
            if kind in ("free", "ball"):
                reason = f"it drives a {kind} joint; replace it by hinge or slide joints"
                raise self._compiled.refuse("actuator", n, reason)
        else:
            name = kinds(moved).name.removeprefix("mjTRN_").lower()
            reason = f"it drives a {name}; only joints and fixed tendons can be driven"
            raise self._compiled.refuse("actuator", n, reason)
        gains = self._compiled.mujoco.mjtGain
        known = gains.mjGAIN_FIXED, gains.mjGAIN_AFFINE, getattr(gains, "mjGAIN_PID", -1)
        if int(model.actuator_gaintype[n]) not in map(int, known):
            reason = "its gain is that of a muscle or user-defined; use a <motor>"
            raise self._compiled.refuse("actuator", n, reason)
        self._compiled.leave_out_curve("actuator", n, "actuator_damping")
        for of_joint, key in ((self.damping, "damping"), (self.armature, "armature")):
            of_joint[joint] += gear**2 * float(self._compiled.entry(f"actuator_{key}", n))
        ends = np.array([-np.inf, np.inf])
        control = int(getattr(model, "actuator_ctrladr", self._actuators)[n])
        if model.actuator_forcelimited[n]:
            ends = gear * model.actuator_forcerange[n]
        elif model.actuator_ctrllimited[control] and not model.actuator_biastype[n]:
            ends = gear * float(model.actuator_gainprm[n, 0]) * model.actuator_ctrlrange[control]
        if model.jnt_actfrclimited[joint]:
            ends = np.clip(ends, *model.jnt_actfrcrange[joint])
        return joint, (float(ends.min()), float(ends.max()))

    def _end_of(self, n: int, tendon: int) -> tuple[int, float]:
        """Return the index of the only joint that a tendon moves, and the gear ratio.

        The index is -1 if actuator n is left out, because its tendon moves several independent
        joints.
        """
        joints = self._couplings.joints_of(tendon)
        name = self._compiled.name("tendon", tendon)
        if not joints:
            reason = f"it drives the tendon {name!r}, which is not <fixed>; only fixed tendons are"
            raise self._compiled.refuse("actuator", n, f"{reason} supported")
        left, _ = self._couplings.reduced(joints)
        if len(left) != 1:
            names = ", ".join(repr(self._compiled.name("joint", joint)) for joint in joints)
            warn(
                f"{self._compiled.source}: ignored actuator "
                f"{self._compiled.name('actuator', n)!r}, "
                f"which drives the tendon {name!r}, whose joints {names} are passive and not "
                "coupled; couple them by an <equality>, or name the driven joints"
            )
            return -1, 0.0
        return next(iter(left.items()))

    def _warn_of_servos(self) -> None:
        """Warn that servo laws and filters of actuators are ignored."""
        lawful = [
            n
            for n in self._actuators
            if any(np.any(self._compiled.entry(f"actuator_{key}", n)) for key in LAWS)
        ]
        if lawful:
            names = ", ".join(repr(self._compiled.name("actuator", n)) for n in lawful[:NAMED])
            more = f" and {len(lawful) - NAMED} more" if len(lawful) > NAMED else ""
            warn(
                f"{self._compiled.source}: actuators {names}{more}: ignored their servo laws "
                "and filters; their inputs are efforts"
            )

    @property
    def home(self) -> FloatArray | None:
        """Joint positions (nq,) of the home keyframe; None without keyframes.

        It is the keyframe `home` or, if that is missing, the first one.
        """
        mujoco, model = self._compiled.mujoco, self._model
        if not model.nkey:
            return None
        named = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "home")
        return np.array(model.key_qpos[max(named, 0)])
