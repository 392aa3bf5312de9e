# SPDX-License-Identifier: Apache-2.0

"""Report page of a workspace: volume, and views of its boundary."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from robodyn.extras import require_extra
from robodyn.planning.workspace.pose_region import PoseRegion
from robodyn.planning.workspace.surfaces import Surface
from robodyn.planning.workspace.tip_region import TipRegion
from robodyn.report.chart import COLORS
from robodyn.report.page import Page, cards

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Views: name, elevation and azimuth [deg], and the axis along the line of sight.
_VIEWS = (
    ("from one side, above", (35.0, 45.0), ""),
    ("from the front", (0.0, 0.0), "x"),
    ("from above", (90.0, -90.0), "z"),
)


def workspace_page(region: PoseRegion | TipRegion) -> Page:
    """Create the report page of a workspace: volume, limits, views of its boundary.

    Args:
        region: computed workspace.
    """
    name = region.needs.mechanism.name
    numbers = {"volume": region.volume, "volume_error": region.volume_error, "unit": region.unit}
    page = Page(f"{name}, {region.kind} workspace", region.text, {"kind": region.kind, **numbers})
    turns = region.unit.startswith("rad")
    axes, unit = (("roll", "pitch", "yaw"), "rad") if turns else (("x", "y", "z"), "m")
    shown = [("volume", f"{region.volume:.5g} ± {region.volume_error:.2g} {region.unit}")]
    shown += [
        (f"searched in {axis}", f"{low:.4g} to {high:.4g} {unit}")
        for axis, (low, high) in zip(axes, np.asarray(region.box), strict=True)
    ]
    page.add("numbers", "Numbers", cards(shown))
    if isinstance(region, TipRegion):
        ends = [(name, f"{fraction:.0%} of the edge") for name, fraction in region.reasons.items()]
        page.add("reasons", "Limits at the edge of the region", cards(ends))
    labels = [f"{axis} [{unit}]" for axis in axes]
    if region.dimensions == 3:
        singular = getattr(region, "singular_surface", None)
        for key, (title, eye, hidden) in enumerate(_VIEWS):
            drawn = surfaces_image(region.boundary, singular, labels, eye, hidden)
            page.add(f"view{key}", f"Boundary {title}", drawn)
    elif isinstance(region, TipRegion) and region.dimensions == 2:
        page.add("area", "Region and the limits at its edge", area_image(region, labels))
    return page


def surfaces_image(
    boundary: Surface,
    singular: Surface | None,
    labels: list[str],
    eye: tuple[float, float],
    hidden: str,
) -> str:
    """Draw a workspace's boundary (blue) and singular surface (red) as an HTML image.

    Args:
        boundary, singular: surfaces to draw; `singular` may be None.
        labels: labels of the three axes.
        eye: elevation and azimuth [deg] of the camera.
        hidden: axis along the line of sight, `x`, `y` or `z`; empty if there is none.

    Returns:
        An HTML element that contains the picture.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    with require_extra("report", "pictures of a workspace need matplotlib", "matplotlib"):
        from matplotlib.colors import to_rgba
        from matplotlib.figure import Figure
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection
    parts = [(boundary, to_rgba(COLORS[0], 0.35))]
    if singular is not None:
        parts.append((singular, to_rgba(COLORS[1], 0.8)))
    triangles = np.concatenate([each.vertices[each.triangles] for each, _ in parts])
    if not len(triangles):
        return "<p>The region is empty.</p>"
    colors = np.concatenate([np.tile(color, (len(each.triangles), 1)) for each, color in parts])
    figure = Figure(figsize=(5.6, 5.6), layout="constrained")
    axes = figure.add_subplot(projection="3d", proj_type="ortho")
    axes.add_collection3d(Poly3DCollection(triangles, facecolors=colors, shade=True))
    points = triangles.reshape(-1, 3)
    axes.auto_scale_xyz(*points.T)
    axes.set_aspect("equal")
    axes.set(xlabel=labels[0], ylabel=labels[1], zlabel=labels[2])
    axes.view_init(*eye)
    axes.locator_params(nbins=5)
    if hidden:
        axes.set(**{f"{hidden}label": "", f"{hidden}ticks": []})
    return _image_tag(figure)


def area_image(region: TipRegion, labels: list[str]) -> str:
    """Draw a plane workspace and the limits at its edge as an HTML image.

    Args:
        region: workspace in which only two coordinates vary.
        labels: labels of the three coordinates.

    Returns:
        An HTML element that contains the picture.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    with require_extra("report", "pictures of a workspace need matplotlib", "matplotlib"):
        from matplotlib.collections import PolyCollection
        from matplotlib.figure import Figure
    plane = region.axes
    covered = region.boundary.vertices[:, plane].reshape(-1, 4, 2)
    if not len(covered):
        return "<p>The region is empty.</p>"
    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    axes = figure.add_subplot()
    axes.add_collection(PolyCollection(list(covered), facecolor=COLORS[0], alpha=0.35))
    points, names = region.ends
    for color, name in zip(cycle(COLORS[1:]), region.reasons, strict=False):
        at = points[[each == name for each in names]][:, plane]
        axes.plot(*at.T, "s", color=color, markersize=4, label=name)
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set(xlabel=labels[plane[0]], ylabel=labels[plane[1]])
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), title="violated")
    return _image_tag(figure)


def _image_tag(figure: Figure) -> str:
    """Return an HTML image element that contains a figure as PNG."""
    image = BytesIO()
    figure.savefig(image, format="png", dpi=110, bbox_inches="tight")
    data = b64encode(image.getvalue()).decode()
    return f'<img alt="boundary" src="data:image/png;base64,{data}">'
