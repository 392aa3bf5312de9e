# SPDX-License-Identifier: Apache-2.0

"""The documentation's page "Move it" in a real browser, opened as a file."""

import json
import runpy
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("websockets")
from headless_chromium import Browser, executable

SCRIPT = Path(__file__).parents[3] / "docs" / "make_move_it.py"
pytestmark = [
    pytest.mark.skipif(not SCRIPT.exists(), reason="an installed package has no docs"),
    pytest.mark.skipif(executable() is None, reason="no Chromium on the PATH"),
    pytest.mark.skipif(
        not (shutil.which("wasm-ld") or find_spec("ziglang")),
        reason="no linker (wasm-ld, ziglang) for WebAssembly",
    ),
    pytest.mark.slow,
]
# of what a mechanism computes at random configurations, all bits
BITS = """
moveIt.mechanisms.map(({ m }, k) => %s[k].map(([q, v, a, positions]) => [
  m.inverseDynamics(q, v, a), m.jointPositions(q), m.configuration(positions, q)
].map((part) => [...new BigUint64Array(part.buffer)].map(String))))
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "move_it.html"
    runpy.run_path(str(SCRIPT))["write_move_it"](file)
    assert file.stat().st_size < 1e6
    browser = Browser(file.as_uri(), 1000, 640)
    browser.until("within its workspace")
    yield browser
    assert browser.console == []
    browser.close()


def test_numbers_are_the_librarys_to_the_bit(page, load, rng):
    asked, expected = [], []
    for name in ("stewart_symmetric", "delta", "puma560"):
        m, nv = load(name), load(name).coordinates.velocity_size
        rows, answers = [], []
        for _ in range(20):
            q = m.advance(m.home, 0.05 * rng.uniform(-1.0, 1.0, nv))
            v, a = rng.normal(size=(2, nv))
            x = m.joint_positions(q)
            rows.append([part.tolist() for part in (q, v, a, x)])
            parts = m.inverse_dynamics(q, v, a), x, m.assemble(x, q)
            answers.append([part.view(np.uint64).astype(str).tolist() for part in parts])
        asked.append(rows)
        expected.append(answers)
    assert page.evaluate(BITS % json.dumps(asked)) == expected


def test_dragging_the_tip_moves_the_mechanism_and_what_it_says(page, load):
    m = load("stewart_symmetric")
    place = page.evaluate("(() => { const [x, y] = moveIt.tip(); return [x, y]; })()")
    for kind, shift in (("mousePressed", 0), ("mouseMoved", 20), ("mouseReleased", 20)):
        page.call(
            "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1] - shift, button="left",
            buttons=1, clickCount=1,
        )  # fmt: skip
    q = np.array(page.evaluate("[...moveIt.current().q]"))
    assert q[2] > m.home[2] + 0.01
    page.until(f"{m.condition_number(q):.4g}")
    page.until(f"{m.inverse_dynamics(q, np.zeros(6), np.zeros(6))[0]:.1f} N")


def test_beyond_its_ends_it_says_so(page, load):
    page.click("platform")
    page.evaluate(
        "(() => { const s = document.querySelectorAll('input')[2]; s.value = s.max;"
        " s.dispatchEvent(new Event('input')); })()"
    )
    q = np.array(page.evaluate("[...moveIt.current().q]"))
    m = load("stewart_symmetric")
    beyond = m.joint_positions(q)[0] - m.position_limits[0, 1]
    page.until(f"leg1_actuator is {beyond:.3f} m beyond its end")
    page.click("home")
    page.until("within its workspace")
