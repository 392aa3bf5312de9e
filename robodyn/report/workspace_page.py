# SPDX-License-Identifier: Apache-2.0

"""A page that shows a workspace: its numbers, and its boundary from three sides."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.planning.workspace.pose_region import PoseRegion
from robodyn.planning.workspace.surfaces import Surface
from robodyn.planning.workspace.tip_region import TipRegion
from robodyn.report.page import Page, cards

# Directions that are seen from: name, and the axes of the picture to the right, up and to the eye.
_S, _T = np.sqrt(0.5), np.sqrt(1.0 / 3.0)
_VIEWS = (
    ("from one side, above", ((-_S, _S, 0.0), (-_S * _T, -_S * _T, 2 * _S * _T), (_T, _T, _T))),
    ("from the front", ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))),
    ("from above", ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))),
)
_PIXELS = 420.0
_BLUE, _RED = np.array([70.0, 120.0, 190.0]), np.array([200.0, 60.0, 50.0])


def workspace_page(region: PoseRegion | TipRegion, command: str = "") -> Page:
    """The page of a workspace."""
    name = region.needs.mechanism.name
    numbers = {"volume": region.volume, "volume_error": region.volume_error, "unit": region.unit}
    page = Page(f"{name}, {region.kind} workspace", region.text, {"kind": region.kind, **numbers})
    box = np.asarray(region.box)
    axes = ("roll", "pitch", "yaw") if region.unit == "rad^3" else ("x", "y", "z")
    unit = "rad" if region.unit == "rad^3" else "m"
    shown = [("volume", f"{region.volume:.5g} ± {region.volume_error:.2g} {region.unit}")]
    shown += [
        (f"searched in {axis}", f"{low:.4g} to {high:.4g} {unit}")
        for axis, (low, high) in zip(axes, box, strict=True)
    ]
    page.add("numbers", "Numbers", cards(shown))
    singular = getattr(region, "singular_surface", None)
    for key, (title, frame) in enumerate(_VIEWS):
        drawn = surfaces_svg(region.boundary, singular, np.array(frame))
        page.add(f"view{key}", f"Boundary {title}", drawn)
    page.add_provenance(command)
    return page


def surfaces_svg(boundary: Surface, singular: Surface | None, frame: FloatArray) -> str:
    """Boundary in blue, see-through, and singular surface in red, as a picture by parallel rays.

    Args:
        boundary, singular: what to draw.
        frame: (3, 3) directions to the right, up and to the eye.
    """
    parts = [(boundary, _BLUE, 0.35)]
    if singular is not None and len(singular.triangles):
        parts.append((singular, _RED, 0.8))
    corners, colors, alphas = [], [], []
    for surface, color, alpha in parts:
        triangles = surface.vertices[surface.triangles] @ frame.T
        normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        length = np.maximum(np.linalg.norm(normal, axis=1), 1e-300)
        light = 0.45 + 0.55 * np.abs(normal[:, 2]) / length
        corners.append(triangles)
        colors.append(light[:, None] * color)
        alphas.append(np.full(len(triangles), alpha))
    drawn = np.concatenate(corners)
    if not len(drawn):
        return "<p>The region is empty.</p>"
    flat = drawn[..., :2].reshape(-1, 2)
    low, extent = flat.min(axis=0), float(np.ptp(flat, axis=0).max()) or 1.0
    at = (drawn[..., :2] - low) * (_PIXELS / extent)
    width, height = np.ptp(flat, axis=0) * (_PIXELS / extent)
    rows = []
    shades, opacity = np.concatenate(colors).astype(int), np.concatenate(alphas)
    for k in drawn[..., 2].mean(axis=1).argsort():
        points = " ".join(f"{x:.1f},{height - y:.1f}" for x, y in at[k])
        r, g, b = shades[k]
        rows.append(f'<path d="M{points}z" fill="rgb({r},{g},{b})" opacity="{opacity[k]:g}"/>')
    return (
        f'<svg viewBox="-4 -4 {width + 8:.0f} {height + 8:.0f}" role="img" '
        f'style="max-width:{_PIXELS:.0f}px;width:100%">{"".join(rows)}</svg>'
    )
