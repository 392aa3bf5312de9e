# SPDX-License-Identifier: Apache-2.0
"""A report in a real browser: it is drawn without a network, and reacts to the mouse."""

import json
import sys
import time
from pathlib import Path

import pytest

import robodyn as rd
from robodyn.report import study_page

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "view"))
pytest.importorskip("websockets")
pytest.importorskip("bokeh")

from headless_chromium import Browser, executable

pytestmark = [
    pytest.mark.skipif(
        executable() is None, reason="no Chromium on the PATH (apt install chromium)"
    ),
    pytest.mark.slow,
]

LEGS = range(6)
NAME = "</script><b>II</b> $$x^2$$"


class ReportBrowser(Browser):
    """A browser that opens a report.

    Attributes:
        requests: addresses that the page requested.
    """

    def __init__(self, page, width=1200, scheme="light"):
        self.requests = []
        super().__init__("about:blank", width, 900)
        self.call("Network.enable")
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])  # fmt: skip
        self.call("Page.navigate", url=page.as_uri())
        self.wait_for("document.documentElement?.dataset.drawn === 'all'")

    def _listen(self, message):
        super()._listen(message)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])

    def wait_for(self, expression, timeout=120.0):
        deadline = time.monotonic() + timeout
        while not self.evaluate(expression):
            assert time.monotonic() < deadline, f"never true: {expression}"
            time.sleep(0.1)

    def lines(self, label):
        """Whether the curves of a legend entry of the first chart are visible, by panel."""
        return self.evaluate(
            "[...document.querySelectorAll('figure')[0].querySelectorAll('[data-lines]')]"
            f".find(b => b.innerText.trim() === {json.dumps(label)}).dataset.lines.split(' ')"
            ".map(id => Bokeh.documents[0].get_model_by_id(id).visible)"
        )

    def x_ranges(self):
        """Start and end of the time axis of the first chart's panels."""
        return self.evaluate(
            "Bokeh.documents[0].roots().map(r => [r.x_range.start, r.x_range.end])"
        )

    def place(self, across, up=0.5):
        """Coordinates of a point of the first panel, as shares of its width and height."""
        x, y, width, height = self.evaluate(
            "(() => { const p = document.querySelector('.plot');"
            "p.scrollIntoView({block: 'center'});"
            "const r = p.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()"
        )
        return x + across * width, y + up * height

    def post_mouse(self, kind, x, y, **more):
        """Without waiting for the page, so that what follows is as quick as a hand."""
        self.post("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)


@pytest.fixture(scope="module")
def page(dasgupta, tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "page.html"
    study = rd.analyze(dasgupta, rd.paper_path("II"), 0.01)
    file.write_text(study_page(study, NAME).html(), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def browser(page):
    opened = ReportBrowser(page)
    yield opened
    opened.close()


def test_all_charts_are_drawn_without_a_network(browser, page):
    plots = browser.evaluate(
        "[...document.querySelectorAll('.plot')].map(p => p.firstElementChild?.offsetHeight ?? 0)"
    )
    assert len(plots) == 29  # forces 6, fractions 6, condition 1, joints 2, reactions 5 ...
    assert min(plots) > 200
    assert browser.console == []
    others = [url for url in browser.requests if not url.startswith(("data:", "blob:"))]
    assert others == [page.as_uri()]
    assert browser.evaluate("document.title").endswith(NAME)


def test_the_legend_hides_a_curve_in_all_panels_and_shows_it_again(browser):
    assert browser.lines("massless") == [True for _ in LEGS]
    browser.click("massless")
    assert browser.lines("massless") == [False for _ in LEGS]
    assert browser.lines("total") == [True for _ in LEGS]
    browser.click("massless")
    assert browser.lines("massless") == [True for _ in LEGS]


def test_the_pointer_shows_values(browser):
    browser.mouse("mouseMoved", *browser.place(0.4))
    browser.mouse("mouseMoved", *browser.place(0.5))
    # Bokeh keeps its elements in shadow trees
    search = """(() => {
      const all = root => [...root.querySelectorAll('*')].flatMap(
        e => e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e]);
      return all(document).filter(e => e.shadowRoot && /Tooltip/.test(e.className))
        .map(e => e.shadowRoot.textContent).join(' ');
    })()"""
    browser.wait_for(f"{search}.includes('massless')")
    shown = browser.evaluate(search)
    assert "time [s]" in shown
    assert "total" in shown


def test_zooming_in_on_one_leg_zooms_all_and_a_double_click_resets(browser):
    whole = browser.x_ranges()
    assert whole == [pytest.approx([0.0, 0.6])] * 6
    start, end = browser.place(0.4, 0.3), browser.place(0.7, 0.7)
    browser.mouse("mouseMoved", *start)
    # at once with the first move, whatever the load: a pointer held for 0.25 s drags nothing
    press = {"button": "left", "buttons": 1, "clickCount": 1}
    browser.post_mouse("mousePressed", *start, **press)
    for fraction, move in ((0.3, browser.post_mouse), (0.6, browser.mouse), (1.0, browser.mouse)):
        at = [a + fraction * (b - a) for a, b in zip(start, end, strict=True)]
        move("mouseMoved", *at, button="left", buttons=1)
    browser.mouse("mouseReleased", *end, button="left", clickCount=1)
    browser.wait_for("Bokeh.documents[0].roots()[5].x_range.start > 0.05")
    zoomed = browser.x_ranges()
    assert zoomed == [zoomed[0]] * 6
    assert zoomed[0][1] < 0.59
    for count in (1, 2):
        browser.post_mouse("mousePressed", *end, button="left", buttons=1, clickCount=count)
        browser.post_mouse("mouseReleased", *end, button="left", clickCount=count)
    browser.wait_for("Bokeh.documents[0].roots()[5].x_range.start < 0.01")
    assert browser.x_ranges() == whole


def test_on_a_dark_phone_it_is_dark_and_no_wider_than_the_screen(page):
    browser = ReportBrowser(page, width=390, scheme="dark")
    try:
        assert browser.evaluate("document.documentElement.scrollWidth") <= 390
        color = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        assert color == "rgb(21, 24, 28)"
        label = browser.evaluate("Bokeh.documents[0].roots()[0].below[0].axis_label_text_color")
        assert label == "#a9b1ba"
        assert browser.console == []
    finally:
        browser.close()
