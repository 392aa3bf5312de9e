"""The page in a real browser: it draws, its numbers are the simulation's, its console is silent."""

from __future__ import annotations

import io

import imageio.v3 as imageio
import numpy as np
import pytest
from headless_chromium import Browser, executable

pytestmark = pytest.mark.skipif(
    executable() is None, reason="no Chromium on the PATH: the page is tested without a browser"
)


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
            pictures.append(imageio.imread(io.BytesIO(browser.screenshot())))
        # the scene, between the two panels, is drawn in the figure's colours, and moves
        scenes = [picture[:, 320:670].astype(int) for picture in pictures]
        for scene in scenes:
            blue = (scene[..., 2] > scene[..., 0] + 30).mean()
            assert blue > 1e-3, "no platform in the picture"
        for before, after in zip(scenes[:-1], scenes[1:], strict=True):
            assert (np.abs(before - after).max(axis=-1) > 40).mean() > 3e-3
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
