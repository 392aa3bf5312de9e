# SPDX-License-Identifier: Apache-2.0

"""A headless Chromium, driven over its own DevTools protocol: nothing to install but itself."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# WebGL without a graphics card.
SOFTWARE_GL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")


def executable() -> str | None:
    """Path of a Chromium, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page in a headless Chromium.

    Attributes:
        console: errors and warnings of its console, and uncaught exceptions.
    """

    def __init__(self, url: str, width: int = 1600, height: int = 900) -> None:
        self.console: list[str] = []
        self._number = 0
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [
                str(executable()),
                "--headless=new",
                "--no-sandbox",
                "--no-first-run",
                "--disable-dev-shm-usage",
                *SOFTWARE_GL,
                "--remote-debugging-port=0",
                f"--user-data-dir={self._profile.name}",
                f"--window-size={width},{height}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self._socket = connect(self._page_address(), max_size=None, proxy=None)
            for domain in ("Page", "Runtime", "Log"):
                self.call(f"{domain}.enable")
            self.call(
                "Emulation.setDeviceMetricsOverride",
                width=width,
                height=height,
                deviceScaleFactor=1,
                mobile=False,
            )
            self.call("Page.navigate", url=url)
        except BaseException:
            self.close()
            raise

    def _page_address(self) -> str:
        from urllib.request import ProxyHandler, build_opener

        file = Path(self._profile.name, "DevToolsActivePort")
        deadline = time.monotonic() + 30.0
        while not (file.exists() and file.read_text().count("\n")):
            assert self._process.poll() is None, "Chromium ended at once"
            assert time.monotonic() < deadline, "Chromium opened no port in 30 s"
            time.sleep(0.05)
        port = file.read_text().split("\n")[0]
        with build_opener(ProxyHandler({})).open(f"http://127.0.0.1:{port}/json/list") as answer:
            targets = json.load(answer)
        return next(t["webSocketDebuggerUrl"] for t in targets if t["type"] == "page")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the result of a DevTools command; store events of the page meanwhile."""
        self.post(method, **parameters)
        while True:
            message = json.loads(self._socket.recv(timeout=60.0))
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            self._listen(message)

    def post(self, method: str, **parameters: Any) -> None:
        """Give a DevTools command whose result does not matter, and do not wait for it."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))

    def _listen(self, message: dict[str, Any]) -> None:
        method, reported = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = reported["exceptionDetails"]
            self.console.append(
                f"exception: {details.get('exception', {}).get('description', details['text'])}"
            )
        elif method == "Runtime.consoleAPICalled" and reported["type"] in ("error", "assert"):
            texts = [str(a.get("value", a.get("description"))) for a in reported["args"]]
            self.console.append("console: " + " ".join(texts))
        elif method == "Log.entryAdded" and reported["entry"]["level"] == "error":
            self.console.append(
                f"log: {reported['entry']['text']} {reported['entry'].get('url', '')}"
            )

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    @property
    def text(self) -> str:
        """All text of the page."""
        return str(self.evaluate("document.body?.innerText ?? ''"))

    def until(self, text: str, timeout: float = 60.0) -> None:
        """Wait until the page shows this text."""
        deadline = time.monotonic() + timeout
        while text not in self.text:
            assert time.monotonic() < deadline, f"no {text!r} on the page:\n{self.text}"
            time.sleep(0.1)

    def click(self, text: str) -> None:
        """Click the button with this text."""
        found = self.evaluate(
            f"(() => {{ const b = [...document.querySelectorAll('button')]"
            f".find(e => e.innerText.trim() === {json.dumps(text)}); if (b) b.click(); "
            "return !!b; })()"
        )
        assert found, f"no button {text!r}"

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Send an event of the mouse, and wait until the page has drawn two frames."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        # like a hand: a slow page would get the last position only
        self.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def drag(self, x: float, y: float, across: float) -> None:
        """Drag with the left button along x by a distance in pixels."""
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        for fraction in (0.25, 0.5, 0.75, 1.0):
            self.mouse("mouseMoved", x + fraction * across, y, button="left", buttons=1)
        self.mouse("mouseReleased", x + across, y, button="left", clickCount=1)

    def dismiss_notifications(self) -> None:
        """Close notifications of the page, such as one about software rendering."""
        self.evaluate(
            "document.querySelectorAll('.mantine-Notification-closeButton').forEach(b => b.click())"
        )

    def screenshot(self) -> bytes:
        """PNG of the page."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        """End it."""
        with suppress(Exception):
            self._socket.close()
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(10.0)
        self._process.kill()
        self._process.wait()
        self._profile.cleanup()
