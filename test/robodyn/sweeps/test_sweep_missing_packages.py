# SPDX-License-Identifier: Apache-2.0

"""Without the extra `sweep` all else works, and a sweep names the packages it needs."""

import subprocess
import sys
from types import ModuleType

import pytest

import robodyn as rd
from robodyn.errors import MissingExtra

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["dask", "xarray", "zarr"])
def test_a_missing_package_is_named_with_its_remedy(monkeypatch, name):
    for other in ("dask", "xarray", "zarr"):
        monkeypatch.setitem(sys.modules, other, ModuleType(other))
    monkeypatch.setitem(sys.modules, name, None)  # which Python takes for not installed
    with pytest.raises(MissingExtra, match=rf"{name}: .*pip install 'dask>="):
        # only what is written needs zarr and dask
        rd.sweep(
            "stewart_symmetric", {"x": "0:0.1:2"}, output=None if name == "xarray" else "map.zarr"
        )


def test_the_library_and_its_commands_do_not_import_them():
    """Nor what of SciPy takes long to import: every command would wait for it."""
    code = (
        "import sys, robodyn as rd, robodyn.cli; rd.sweep; rd.load('stewart_symmetric');"
        "print({'dask', 'distributed', 'xarray', 'zarr', 'netCDF4', "
        "'scipy.optimize', 'scipy.signal', 'scipy.stats'} & set(sys.modules))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout == "set()\n"
