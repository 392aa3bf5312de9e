# SPDX-License-Identifier: Apache-2.0

"""The inverse dynamics of a Stewart platform as one would write it in NumPy, for a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation


def inverse_dynamics(model: Any, pose: Any, twist: Any, accel: Any) -> Any:
    """Forces (N, 6), without friction; equations as in docs/stewart.md."""
    legs = model.legs

    def each(value: Any) -> Any:
        return np.array([value(leg) for leg in legs])

    b, p, k = (
        each(lambda leg, f=f: getattr(leg, f)) for f in ("base", "platform", "universal_axis")
    )
    md, mu = each(lambda leg: leg.lower.mass), each(lambda leg: leg.upper.mass)
    rd0, ru0 = each(lambda leg: leg.lower.com), each(lambda leg: leg.upper.com)
    I0 = each(lambda leg: leg.lower.inertia + leg.upper.inertia)
    g = np.asarray(model.gravity)
    R = Rotation.from_quat(pose[:, 3:]).as_matrix()
    w, alpha = twist[:, None, 3:], accel[:, None, 3:]
    q = np.einsum("nij,lj->nli", R, p)
    S = pose[:, None, :3] + q - b
    L = np.linalg.norm(S, axis=-1, keepdims=True)
    s = S / L
    y = np.cross(k, s)
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    T = np.stack([s, y, np.cross(s, y)], axis=-1)
    c = np.cross(k, y)
    dot = lambda u, v: (u * v).sum(-1, keepdims=True)  # noqa: E731
    v = twist[:, None, :3] + np.cross(w, q)
    a = accel[:, None, :3] + np.cross(alpha, q) + np.cross(w, np.cross(w, q))
    rate, Wp = dot(s, v), np.cross(s, v) / L
    W = Wp - dot(Wp, c) / dot(s, c) * s
    spin = dot(W, np.broadcast_to(k, W.shape)) * dot(W, y)
    rate2 = dot(s, a) + L * dot(Wp, Wp)
    Ap = np.cross(s, a - 2 * rate * np.cross(W, s) - L * np.cross(W, np.cross(W, s))) / L
    A = Ap + (spin - dot(Ap, c)) / dot(s, c) * s
    rd = np.einsum("nlij,lj->nli", T, rd0)
    ru = L * s + np.einsum("nlij,lj->nli", T, ru0)
    ad = np.cross(A, rd) + np.cross(W, np.cross(W, rd))
    au = rate2 * s + 2 * rate * np.cross(W, s) + np.cross(A, ru) + np.cross(W, np.cross(W, ru))
    I = np.einsum("nlij,ljk,nlmk->nlim", T, I0, T)  # noqa: E741
    turn = lambda u: np.einsum("nlij,nlj->nli", I, u)  # noqa: E731
    lower, upper = md[:, None] * (ad - g), mu[:, None] * (au - g)
    C = np.cross(rd, lower) + np.cross(ru, upper) + turn(A) + np.cross(W, turn(W))
    K = np.cross(C - dot(s, C) / dot(s, c) * c, s) / L
    tip = K + dot(s, upper) * s
    body = model.platform
    r = np.einsum("nij,j->ni", R, body.com)
    J = R @ body.inertia @ R.transpose(0, 2, 1)
    w, alpha = twist[:, 3:], accel[:, 3:]
    ag = accel[:, :3] + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
    force = body.mass * (ag - g)
    moment = np.cross(r, force) + np.einsum("nij,nj->ni", J, alpha)
    moment += np.cross(w, np.einsum("nij,nj->ni", J, w))
    H = np.concatenate([s, np.cross(q, s)], axis=-1).transpose(0, 2, 1)
    wrench = np.concatenate([force + tip.sum(1), moment + np.cross(q, tip).sum(1)], axis=-1)
    return np.linalg.solve(H, wrench[..., None])[..., 0]
