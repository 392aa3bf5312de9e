# SPDX-License-Identifier: Apache-2.0
"""Charts: the page holds the numbers that were computed; ranges, ticks, legends, text as data."""

import base64
import json

import numpy as np
import pytest

from robodyn.planning.workspace import Surface
from robodyn.report import (
    Chart,
    ChartLine,
    Mark,
    Note,
    Panel,
    Scale,
    decimal,
    downsample,
    scale_of,
    x_range,
    y_range,
)
from robodyn.report.workspace_page import surfaces_image

bokeh = pytest.importorskip("bokeh")

from bokeh.document import Document  # noqa: E402
from bokeh.models import ColumnDataSource, HoverTool, Label, PlainText  # noqa: E402

from robodyn.report import chart_html  # noqa: E402
from robodyn.report.html_charts import drawing  # noqa: E402


def figures_of(chart):
    """The figures as Bokeh reads them back from the page."""
    return Document.from_json(json.loads(drawing(chart).document)).roots


def figure_of(panel):
    (figure,) = figures_of(Chart("key", "title", (panel,)))
    return figure


def sources(figure):
    """The data of the curves, each once."""
    found = figure.select({"type": ColumnDataSource})
    return [source.data for source in found if "y0" in source.data]


def test_thinning_keeps_extremes_ends_and_gaps(rng):
    x = np.linspace(0.0, 1.0, 20_001)
    y = np.cumsum(rng.normal(size=(2, x.size)), axis=1)
    spike, gap = rng.integers(1_000, 9_000), rng.integers(11_000, 19_000)
    y[0, spike], y[1, gap] = 1e6, np.nan
    rows = downsample(y)
    assert rows.size < 2_000
    assert (np.diff(rows) > 0).all()
    assert {0, spike, gap - 1, gap, gap + 1, x.size - 1} <= set(rows.tolist())
    for curve in y:
        assert np.nanmax(curve[rows]) == np.nanmax(curve)
        assert np.nanmin(curve[rows]) == np.nanmin(curve)


def test_few_samples_are_all_kept():
    np.testing.assert_array_equal(downsample(np.zeros((3, 50))), np.arange(50))


@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
@pytest.mark.parametrize("samples", [100, 5_001])
def test_the_page_holds_the_computed_numbers(scale, samples, rng):
    x = np.sort(rng.uniform(0.0, 10.0, samples))
    curves = 10.0 ** rng.uniform(-3.0, 6.0, size=(3, samples))
    if scale != "log":
        curves *= rng.choice([-1.0, 1.0], curves.shape)
    curves[1, 7] = np.nan
    panel = Panel("p", tuple(ChartLine(x, y, str(i)) for i, y in enumerate(curves)), scale=scale)
    (data,) = sources(figure_of(panel))
    rows = downsample(curves)
    np.testing.assert_array_equal(data["x"], x[rows])
    for i, y in enumerate(curves):
        np.testing.assert_array_equal(data[f"y{i}"], y[rows])
        order = np.argsort(y[rows])  # an axis keeps the order of values, and gaps
        drawn = data[f"y{i}" if scale == "linear" else f"at{i}"]
        assert (np.diff(drawn[order][np.isfinite(y[rows][order])]) >= 0.0).all()
        np.testing.assert_array_equal(np.isnan(drawn), np.isnan(y[rows]))


def test_curves_over_other_samples_keep_their_own():
    long, short = np.linspace(0.0, 2.0, 21), np.linspace(0.0, 1.0, 11)
    figure = figure_of(Panel("p", (ChartLine(long, long, "a"), ChartLine(short, -short, "b"))))
    data = sorted(sources(figure), key=lambda columns: -len(columns["x"]))
    np.testing.assert_array_equal(data[0]["x"], long)
    np.testing.assert_array_equal(data[1]["y0"], -short)


def test_hovering_shows_every_curve_at_one_instant():
    x = np.linspace(0.0, 1.0, 11)
    curves = (ChartLine(x, x, "total"), ChartLine(x, -x, "massless"))
    (hover,) = figure_of(Panel("leg 1", curves, y_label="force [N]")).select(HoverTool)
    assert hover.mode == "vline"
    assert [tuple(row) for row in hover.tooltips] == [
        ("time [s]", "@x{%.6g}"), ("total", "@y0{%.6g}"), ("massless", "@y1{%.6g}")]  # fmt: skip
    assert set(hover.formatters) == {"@x", "@y0", "@y1"}


@pytest.mark.slow
def test_a_legend_controls_its_curve_in_every_panel():
    x = np.arange(3.0)
    panels = tuple(
        Panel(str(i), (ChartLine(x, x, "a"), ChartLine(x, -x, "b"), ChartLine(x, x)))
        for i in range(4)
    )
    chart = Chart("key", "title", panels)
    assert [curve.label for curve in chart.legend] == ["a", "b"]
    drawn = drawing(chart)
    document = Document.from_json(json.loads(drawn.document))
    assert [str(root.id) for root in document.roots] == drawn.figures
    for label, column in (("a", "y0"), ("b", "y1")):
        lines = [document.get_model_by_id(identifier) for identifier in drawn.lines[label]]
        assert [line.glyph.y.field for line in lines] == [column] * 4
        assert all(line.glyph.line_alpha == 1.0 for line in lines)


@pytest.mark.slow
def test_equal_axes_of_a_chart_are_linked():
    x = np.linspace(0.0, 1.0, 5)
    panels = [Panel(str(i), (ChartLine(x, i * x),)) for i in (1, 2)]
    panels.append(Panel("other", (ChartLine(x, x),), x_label="x [m]"))
    first, second, other = figures_of(Chart("key", "title", tuple(panels)))
    assert first.x_range is second.x_range
    assert first.x_range is not other.x_range
    assert first.y_range is not second.y_range


def test_symmetric_logarithm_is_odd_linear_at_zero_and_a_logarithm_far_away():
    scale = Scale("symlog", 10.0)
    assert scale.positions([-1e9, 1e9]) == pytest.approx([-8.0, 8.0])
    assert scale.positions(1e-6) == pytest.approx(1e-7 / np.log(10.0))


@pytest.mark.parametrize("kind", ["log", "symlog"])
@pytest.mark.parametrize(("low", "high"), [(30.0, 1200.0), (4.0, 9e16), (10.0, 100.0), (-3e4, 5e6)])
def test_ticks_lie_in_their_range_at_the_values_that_they_tell(kind, low, high):
    if kind == "log" and low < 0.0:
        low = -1e3 / low
    scale = Scale(kind, 1.0)
    ends = scale.positions([low, high])
    places, labels = zip(*scale.ticks(*ends), strict=True)
    assert 2 <= len(places) <= 12
    assert ends[0] <= places[0] < places[-1] <= ends[1]
    reported = [float(label.replace("−", "-")) for label in labels]
    assert reported == sorted(set(reported))
    np.testing.assert_allclose(scale.positions(reported), places)
    assert (0.0 in reported) == (low < 0.0)


@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
@pytest.mark.parametrize("values", [[3.0, 3.0], [0.0, 0.0], [np.nan, np.nan], [1e-300, 2e-300]])
def test_flat_and_empty_curves_can_be_drawn(values, scale):
    panel = Panel("flat", (ChartLine(np.array([0.0, 1.0]), np.array(values)),), scale=scale)
    for low, high in (x_range(panel), y_range(panel)):
        assert np.isfinite([low, high]).all()
        assert low < high
    figure_of(panel)


def test_the_range_shows_marks_and_leaves_a_margin():
    x = np.linspace(0.0, 2.0, 9)
    panel = Panel("p", (ChartLine(x, x),), marks=(Mark(10.0, "limit"), Mark(1.0, vertical=True)))
    assert x_range(panel) == (0.0, 2.0)
    assert y_range(panel) == pytest.approx((-0.5, 10.5))


def test_a_wide_range_of_both_signs_is_drawn_on_a_symmetric_logarithm():
    assert scale_of([np.array([1.0, -2.0, 3.0])]) == "linear"
    assert scale_of([np.array([1.0, -2.0, 3.0, 1e6, np.nan])]) == "symlog"


def test_numbers_are_written_in_few_digits():
    assert [decimal(x) for x in (0.0, -0.25, 1500.0, 1e6, -2e-5)] == [
        "0", "−0.25", "1500", "1e6", "−2e−5"]  # fmt: skip


def test_text_is_neither_markup_nor_a_formula():
    x = np.arange(2.0)
    evil = "</script><script>alert(1)</script> $$x^2$$ @y1"
    panel = Panel(
        evil, (ChartLine(x, x, evil),), evil, evil, (Mark(0.5, evil),), (Note(0, 0, evil),)
    )
    html = chart_html(Chart("key", "title", (panel,), evil))
    assert "<script>alert" not in html
    assert html.count("</script>") == 1  # that of the chart's own data
    figure = figure_of(panel)
    texts = [figure.xaxis[0].axis_label, figure.yaxis[0].axis_label]
    texts += [label.text for label in figure.select(Label)]
    assert len(texts) == 4
    assert all(isinstance(text, PlainText) and text.text == evil for text in texts)
    (hover,) = figure.select(HoverTool)
    assert not any(sign in label for label, _ in hover.tooltips for sign in "@$")


@pytest.mark.slow
def test_a_workspace_is_a_picture_of_its_surfaces():
    pytest.importorskip("matplotlib")
    corners = np.vstack([np.zeros(3), np.eye(3)])
    faces = np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])
    labels = ["x [m]", "y [m]", "z [m]"]
    inner = Surface(0.5 * corners, faces)
    pictures = {surfaces_image(Surface(corners, faces), each, labels, (30.0, 45.0), "")
                for each in (None, inner)}  # fmt: skip
    assert len(pictures) == 2  # the singular surface is seen
    for picture in pictures:
        data = base64.b64decode(picture.split("base64,")[1].split('"')[0])
        assert data.startswith(b"\x89PNG")
    nothing = Surface(np.empty((0, 3)), np.empty((0, 3), dtype=int))
    assert "empty" in surfaces_image(nothing, None, labels, (0.0, 0.0), "x")
