# SPDX-License-Identifier: Apache-2.0

"""Draw the pictures of docs/images.

`view` is the live view on Path I, `leg_forces` a chart of its report, `condition_map` a sweep.

python docs/make_images.py [view | leg_forces | condition_map] [--at SECONDS] [--model MODEL]
    [--path PATH] [--out FILE]

Needs the extra `view` and a Chromium on the PATH for the view, matplotlib for the charts, the extra
`sweep` for the map.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
import warnings
from pathlib import Path

import imageio.v3 as imageio
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "test" / "robodyn" / "view"))

from headless_chromium import Browser, executable  # noqa: E402

from robodyn.loading.load import load  # noqa: E402
from robodyn.report.images import draw  # noqa: E402
from robodyn.report.study import analyze  # noqa: E402
from robodyn.report.study_charts import force_chart  # noqa: E402
from robodyn.sweeps.sweep import sweep  # noqa: E402
from robodyn.trajectories import load_path  # noqa: E402
from robodyn.view.live import LiveSimulation  # noqa: E402
from robodyn.view.model_figure import figure_of  # noqa: E402
from robodyn.view.paths import paths_of  # noqa: E402
from robodyn.view.serving import serve, stop  # noqa: E402
from robodyn.view.studio import open_studio  # noqa: E402

SIZE = (1400, 860)
LARGEST = 250_000
PICTURES = ("view", "leg_forces", "condition_map")


def picture(model: str, path: str, at: float) -> bytes:
    """PNG of the page at a time [s] of the path."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mechanism = load(model)
    live = LiveSimulation(mechanism, paths_of(mechanism, path))
    server = serve(0)
    page, _ = open_studio(server, live, figure_of(model, mechanism))
    page.update()
    browser = Browser(f"http://localhost:{server.get_port()}", *SIZE)
    try:
        while live.snapshot().time < at - 0.5 * live.period:
            for _ in range(7):
                live.step()
            page.update()
        live.set_playing(False)
        for _ in range(6):
            page.update()
        browser.until("paused")
        browser.dismiss_notifications()
        time.sleep(6.0)  # a frame takes a good part of a second without a graphics card
        return browser.screenshot()
    finally:
        browser.close()
        stop(server)


def leg_forces(model: str, path: str) -> bytes:
    """PNG of the chart of forces in the report of a path."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mechanism = load(model)
    chart = force_chart(analyze(mechanism, load_path(path, mechanism), 0.001))
    file = io.BytesIO()
    draw(chart).savefig(file, format="png", dpi=110)
    return file.getvalue()


def condition_map() -> bytes:
    """PNG of the condition number and the leg forces over the symmetric platform's workspace."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    axes = {"x": "-0.45:0.45:181", "y": "-0.45:0.45:181"}
    data = sweep(
        "stewart_symmetric",
        axes,
        ["condition_number", "effort_extremes"],
        characteristic_length=0.8,
        accelerations=[3.0, 3.0, 3.0, 3.0, 3.0, 3.0],
    )
    panels = (
        (data.condition_number, "condition number", "viridis_r"),
        (data.effort_max.max("joint"), "largest leg force [N]", "magma_r"),
    )
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    for place, (values, title, colors) in zip(figure.subplots(1, 2), panels, strict=True):
        drawn = place.contourf(data.x, data.y, values.transpose("y", "x"), 14, cmap=colors)
        figure.colorbar(drawn, ax=place)
        place.set(title=title, xlabel="x [m]", ylabel="y [m]", aspect="equal")
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110)
    return file.getvalue()


def smaller(png: bytes) -> bytes:
    """Reduce a picture to 5 bits per channel, which compresses much better."""
    pixels = imageio.imread(io.BytesIO(png))[..., :3]
    levels = np.round(pixels / 255.0 * 31.0) / 31.0 * 255.0
    return imageio.imwrite("<bytes>", levels.astype(np.uint8), extension=".png", optimize=True)


def main() -> int:
    """Draw the pictures; 1 on failure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", nargs="*", metavar=" | ".join(PICTURES))
    parser.add_argument("--at", type=float, default=3.0)
    parser.add_argument("--model", default="stewart_dasgupta")
    parser.add_argument("--path", default="")
    parser.add_argument("--out", type=Path, help="for one picture; docs/images by default")
    given = parser.parse_args()
    which = given.which or list(PICTURES)
    if not set(which) <= set(PICTURES):
        parser.error(f"no picture {' '.join(which)}; known are {', '.join(PICTURES)}")
    if "view" in which and executable() is None:
        print("no Chromium on the PATH", file=sys.stderr)
        return 1
    for name in which:
        if name == "view":
            png = smaller(picture(given.model, given.path, given.at))
        elif name == "leg_forces":
            png = smaller(leg_forces(given.model, given.path or "I"))
        else:
            png = smaller(condition_map())
        if len(png) > LARGEST:
            print(f"{name}: {len(png)} bytes, more than {LARGEST}", file=sys.stderr)
            return 1
        out = given.out if given.out and len(which) == 1 else HERE / "images" / f"{name}.png"
        out.write_bytes(png)
        print(f"{out}: {len(png)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
