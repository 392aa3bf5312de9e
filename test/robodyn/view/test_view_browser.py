# SPDX-License-Identifier: Apache-2.0

"""The page in a real browser: it draws, its numbers are the simulation's, its console is silent."""

from __future__ import annotations

import io
import time

import imageio.v3 as imageio
import numpy as np
import pytest
from headless_chromium import Browser, executable

from robodyn.view import serving

pytestmark = [
    pytest.mark.skipif(
        executable() is None,
        reason="no Chromium on the PATH (apt install chromium): "
        "the page is tested without a browser",
    ),
    pytest.mark.slow,
]


# Timeout for a busy machine, which draws without a graphics card [s].
PATIENCE = 150.0


def until_drawn(browser, before):
    """The scene between the two panels, once it shows a platform that is elsewhere than before.

    Without a graphics card a frame takes its time, and the first ones fade in.
    """
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        picture = imageio.imread(io.BytesIO(browser.screenshot()))[:, 320:670, :3].astype(int)
        blue = (picture[..., 2] > picture[..., 0] + 60).mean()
        moved = 1.0 if before is None else (np.abs(picture - before).max(axis=-1) > 40).mean()
        if blue > 1e-3 and moved > 3e-3:
            return picture
        time.sleep(0.2)
    raise AssertionError(f"not drawn in {PATIENCE:g} s: {blue:.2%} blue, {moved:.2%} moved")


def test_a_browser_shows_the_flight_of_path_i_without_an_error(studio):
    live, page, _, port = studio()
    page.update()
    browser = Browser(f"http://localhost:{port}", 1080, 600)
    try:
        browser.until("t =")
        pictures = []
        for moment in (0.6, 3.0, 5.4):
            while live.snapshot().time < moment - 0.5 * live.period:
                live.step()
            for _ in range(3):
                page.update()
            now = live.snapshot()
            browser.until(f"t = {now.time:7.3f} s")
            text = browser.text
            x, y, z = now.body_pose[:3].round(3) + 0.0
            assert f"{x:7.3f} {y:7.3f} {z:7.3f} m" in text
            assert f"condition number {now.condition_number:.4g}" in text
            # drawn in the figure's colors, and moved since the moment before
            pictures.append(until_drawn(browser, pictures[-1] if pictures else None))
        assert browser.evaluate("document.querySelectorAll('.u-over').length") == 2
        live.start(), page.start()
        browser.click("Pause")
        browser.until("paused")
        stopped = live.snapshot().time
        browser.click("Play")
        browser.until("running")
        assert live.snapshot().time >= stopped
        assert browser.console == []
    finally:
        browser.close()


def test_a_page_whose_first_connection_failed_connects_again(studio, monkeypatch):
    """Without the keyboard's focus, as a page that a busy machine opens behind other windows."""
    refusal, refused = serving.refusal, []

    def busy(headers, allowed):
        if headers.get("Upgrade") and not refused:
            refused.append(headers)
            return "busy"
        return refusal(headers, allowed)

    monkeypatch.setattr(serving, "refusal", busy)
    _, page, _, port = studio()
    page.update()
    browser = Browser(f"http://localhost:{port}", 1080, 600)
    try:
        browser.until("t =")
        assert refused
    finally:
        browser.close()
