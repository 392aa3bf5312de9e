# SPDX-License-Identifier: Apache-2.0

"""robodyn: the dynamics of parallel and serial robots.

```python
import robodyn as rd

m = rd.load("stewart_dasgupta")
traj = rd.paper_path("I")
forces = m.inverse_dynamics(*traj.sample(3.0))
```

Names are imported on first use, so importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

from robodyn.version import __version__ as __version__

# Public names and their modules, as the stub for type checkers and editors lists them.
_MODULES: dict[str, str] = {}
with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as _stub:
    for _line in _stub:
        _words = _line.split()
        if _words[:1] == ["from"]:
            _module = _words[1]
        if "as" in _words and _module != "robodyn.version":
            _MODULES[_words[_words.index("as") - 1]] = _module

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'robodyn' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    guards = importlib.import_module("robodyn.arguments")
    if isinstance(value, types.FunctionType):
        value = guards.with_checked_arguments(value)
        value.__module__ = __name__  # module in which `pickle` finds it
        globals()[name] = value
    # also guard the classes of results, which a program may use without accessing their names
    for other in _MODULES.keys() - globals().keys():
        module = sys.modules.get(_MODULES[other])
        found = None if module is None else vars(module).get(other)
        if isinstance(found, type):
            globals()[other] = found
            if not issubclass(found, Exception):
                guards.check_method_arguments(found)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
