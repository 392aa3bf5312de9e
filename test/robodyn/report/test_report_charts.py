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

"""Charts: what is drawn is what was computed; thinning keeps extremes, axes have round ticks."""

import re

import numpy as np
import pytest

from robodyn.report.chart import Chart, Curve, Panel, thinned
from robodyn.report.scales import Axis, decimal, scale_of
from robodyn.report.svg import panel_svg


def test_thinning_keeps_extremes_ends_and_gaps(rng):
    x = np.linspace(0.0, 1.0, 20_001)
    y = np.cumsum(rng.normal(size=x.size))
    spike, gap = rng.integers(1_000, 9_000), rng.integers(11_000, 19_000)
    y[spike], y[gap] = 1e6, np.nan
    few_x, few_y = thinned(x, y)
    assert few_x.size < 1_000
    assert np.nanmax(few_y) == 1e6
    assert np.nanmin(few_y) == np.nanmin(y)
    assert (few_x[0], few_x[-1]) == (x[0], x[-1])
    assert np.isnan(few_y[few_x == x[gap]]).all()
    assert (np.diff(few_x) > 0.0).all()


def test_a_peak_is_drawn_where_it_is():
    x = np.linspace(0.0, 10.0, 5_001)
    y = np.where(np.arange(x.size) == 2_500, 1.0, 0.0)
    svg = panel_svg(Panel("peak", (Curve(x, y),)))
    path = re.findall(r'<path d="(M[^"]+)" fill="none" stroke="#1b1f24"', svg)[0]
    points = np.array(re.findall(r"[ML]([\d.]+) ([\d.]+)", path), dtype=float)
    top = points[points[:, 1].argmin()]
    assert top[0] == pytest.approx(points[:, 0].mean(), rel=0.02)


@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
def test_ticks_lie_on_their_axis_in_order(scale, rng):
    values = 10.0 ** rng.uniform(-3.0, 6.0, size=300) * (
        1 if scale == "log" else rng.choice([-1, 1], 300)
    )
    axis = Axis(values, scale)
    places = axis.share(np.array([value for value, _ in axis.ticks]))
    assert 2 <= places.size <= 12
    assert ((places >= -1e-6) & (places <= 1.0 + 1e-6)).all()
    assert (np.diff(places) > 0.0).all()
    back = axis.unbent(axis.share(values) * (axis.high - axis.low) + axis.low)
    np.testing.assert_allclose(back, values, rtol=1e-6)


@pytest.mark.parametrize("values", [[3.0, 3.0], [0.0, 0.0], [np.nan, np.nan], [1e-300, 2e-300]])
def test_flat_and_empty_curves_can_be_drawn(values):
    svg = panel_svg(Panel("flat", (Curve(np.array([0.0, 1.0]), np.array(values)),)))
    assert "nan" not in svg
    assert "inf" not in svg


def test_a_wide_range_of_both_signs_is_bent():
    assert scale_of([np.array([1.0, -2.0, 3.0])]) == "linear"
    assert scale_of([np.array([1.0, -2.0, 3.0, 1e6, np.nan])]) == "symlog"


def test_numbers_are_written_as_people_write_them():
    assert [decimal(x) for x in (0.0, -0.25, 1500.0, 1e6, -2e-5)] == [
        "0", "−0.25", "1500", "1e6", "−2e−5"]  # fmt: skip


def test_a_legend_names_each_curve_once():
    x = np.arange(3.0)
    panels = tuple(
        Panel(str(i), (Curve(x, x, "a"), Curve(x, -x, "b"), Curve(x, x))) for i in range(4)
    )
    assert [curve.label for curve in Chart("key", "title", panels).legend] == ["a", "b"]


def test_text_is_escaped():
    assert "<script" not in panel_svg(Panel("<script>", (Curve(np.arange(2.0), np.arange(2.0)),)))
