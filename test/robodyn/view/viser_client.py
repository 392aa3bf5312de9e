# SPDX-License-Identifier: Apache-2.0

"""A client of a viser page without a browser: it keeps what it is sent, and clicks."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import viser
import zstandard
from scipy.spatial.transform import Rotation
from viser import _messages
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

if TYPE_CHECKING:
    from collections.abc import Callable


class Frames(dict[str, np.ndarray]):
    """Poses (4, 4) by name; NaN for a scene node of which no message has come yet."""

    def __missing__(self, name: str) -> np.ndarray:
        return np.full((4, 4), np.nan)


class Client:
    """Connected to a page.

    Attributes:
        port: of the page.
        frames: (4, 4) of every scene node, by name.
        gui: properties of every control, by uuid; `type` is what kind it is.
        label: of the page's first panel.
        moves: how many positions of scene nodes were received.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.frames = Frames()
        self.gui: dict[str, dict[str, Any]] = {}
        self.label = ""
        self.moves = 0
        self._socket = connect(
            f"ws://127.0.0.1:{port}",
            subprotocols=[f"viser-v{viser.__version__}"],
            max_size=None,
            proxy=None,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        # viser counts a client from its first camera on
        axis = (0.0, 0.0, 1.0)
        self._send(
            _messages.ViewerCameraMessage(
                (1.0, 0.0, 0.0, 0.0), axis, 1.0, 0.1, 10.0, 100, 100, (0.0, 0.0, 0.0), axis
            )
        )

    def close(self) -> None:
        self._socket.close()
        self._reader.join(5.0)

    def until(self, condition: Callable[[], Any], what: str, timeout: float = 60.0) -> Any:
        """Wait until the condition returns a true value, and return it."""
        deadline = time.monotonic() + timeout
        while not (answer := condition()):
            assert time.monotonic() < deadline, f"not in {timeout:g} s: {what}"
            time.sleep(0.01)
        return answer

    def control(self, label: str) -> str:
        """The uuid of the control with this label."""
        found = lambda: [
            key for key, props in list(self.gui.items()) if props.get("label") == label
        ]
        return self.until(found, f"a control {label!r}")[0]

    def set(self, label: str, value: Any) -> None:
        """Do what a person does with a control: click it, or give it a value."""
        self.update(label, {"value": value})

    def update(self, label: str, updates: Any) -> None:
        """Send any properties of a control."""
        self._send(_messages.GuiUpdateMessage(self.control(label), updates))

    @property
    def texts(self) -> str:
        """All HTML of the page."""
        return "\n".join(
            props["content"] for props in list(self.gui.values()) if props.get("content")
        )

    @property
    def curves(self) -> list[list[np.ndarray]]:
        """The data of all plots."""
        return [props["data"] for props in list(self.gui.values()) if "data" in props]

    def _send(self, message: Any) -> None:
        self._socket.send(msgspec.msgpack.encode(message.as_serializable_dict()))

    def _read(self) -> None:
        try:
            for window in self._socket:
                self._take(window)
        except ConnectionClosed:
            pass

    def _take(self, window: bytes) -> None:
        packed = int.from_bytes(window[8:16], "little")
        inner = zstandard.ZstdDecompressor().decompress(window[16 : 16 + packed])
        reported = msgspec.msgpack.decode(inner)
        buffers, start = [], 16 + packed
        for length in reported["binaryBufferLengths"]:
            start += -start % 8
            buffers.append(window[start : start + length])
            start += length
        for message in reported["messages"]:
            kind = message["type"]
            if kind in ("SetPositionMessage", "SetOrientationMessage"):
                frame = self.frames.setdefault(message["name"], np.eye(4))
                if kind == "SetPositionMessage":
                    self.moves += 1
                    frame[:3, 3] = message["position"]
                else:
                    w, x, y, z = message["wxyz"]
                    frame[:3, :3] = Rotation.from_quat([x, y, z, w]).as_matrix()
            elif kind == "SetGuiPanelLabelMessage":
                self.label = message["label"]
            elif kind == "GuiUpdateMessage":
                self.gui.setdefault(message["uuid"], {}).update(_with(message["updates"], buffers))
            elif kind.startswith("Gui") and "props" in message:
                props = _with(message["props"], buffers)
                self.gui.setdefault(message["uuid"], {}).update(props | {"type": kind})


def _with(props: dict[str, Any], buffers: list[bytes]) -> dict[str, Any]:
    """Properties with the arrays of plots put back in their places."""
    out = dict(props)
    if "data" in out and isinstance(out["data"], (list, tuple)):
        out["data"] = [_array(part, buffers) for part in out["data"]]
    return out


def _array(part: Any, buffers: list[bytes]) -> Any:
    if not isinstance(part, dict):
        return part
    index = next(value for value in part.values() if isinstance(value, int))
    return np.frombuffer(buffers[index], dtype=np.float64)
