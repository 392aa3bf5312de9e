# SPDX-License-Identifier: Apache-2.0

"""What of an MJCF couples joints linearly: equalities of joints and of fixed tendons over them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.formats.mjcf.compiled import Compiled


class Follows(NamedTuple):
    """A joint's position: factor * that of another joint + offset [rad or m]."""

    joint: int
    factor: float
    offset: float


class Couplings:
    """Which joints follow which others.

    Args:
        compiled: what MuJoCo makes of the file.

    Attributes:
        follows: by the number of the joint that follows.

    Raises:
        ModelError: an equality that is none of two joints, by name.
    """

    def __init__(self, compiled: Compiled) -> None:
        self._compiled, self._model = compiled, compiled.model
        model, mujoco = compiled.model, compiled.mujoco
        self.follows: dict[int, Follows] = {}
        kinds = mujoco.mjtEq
        for n in range(model.neq):
            kind = int(model.eq_type[n])
            if model.eq_active0[n] and kind in (int(kinds.mjEQ_JOINT), int(kinds.mjEQ_TENDON)):
                self._add(n, kind == int(kinds.mjEQ_TENDON))

    def joints_of(self, tendon: int) -> dict[int, float]:
        """The coefficients of a fixed tendon by joint; empty for one that is none."""
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

    def leader(self, joint: int) -> Follows:
        """What a joint's position is in that of one that follows no other."""
        found = Follows(joint, 1.0, 0.0)
        while found.joint in self.follows:
            after = self.follows[found.joint]
            offset = found.factor * after.offset + found.offset
            found = Follows(after.joint, found.factor * after.factor, offset)
        return found

    def reduced(self, terms: dict[int, float]) -> tuple[dict[int, float], float]:
        """A sum of joints' positions in those that follow no other, and its constant."""
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
                "equality", n, f"a polynomial of {what}; read are polycoef of two numbers"
            )
        # constant + factor (second - its start) - (first - its start) = 0
        terms: dict[int, float] = {}
        constant = float(data[0])
        for number, factor in ((model.eq_obj1id[n], -1.0), (model.eq_obj2id[n], float(data[1]))):
            if number < 0:
                continue
            own = self.joints_of(int(number)) if of_tendons else {int(number): 1.0}
            if not own:
                raise self._compiled.refuse("equality", n, "of a tendon that is not <fixed>")
            for joint, share in own.items():
                start = float(model.qpos0[model.jnt_qposadr[joint]])
                terms[joint] = terms.get(joint, 0.0) + factor * share
                constant -= factor * share * start
        left, more = self.reduced(terms)
        if not left:
            return
        if len(left) == 1:
            raise self._compiled.refuse("equality", n, "it holds a joint; leave the joint out")
        if len(left) > 2:
            names = ", ".join(repr(self._compiled.name("joint", joint)) for joint in left)
            raise self._compiled.refuse(
                "equality", n, f"it couples {len(left)} joints, {names}; read are two"
            )
        (first, of_first), (second, of_second) = left.items()
        offset = -(constant + more) / of_first
        self.follows[first] = Follows(second, -of_second / of_first, offset)
