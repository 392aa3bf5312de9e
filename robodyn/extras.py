# SPDX-License-Identifier: Apache-2.0
"""Optional packages for individual features, and instructions to install them.

setup.py uses the extras defined here. Instructions name the packages themselves and the running
Python, so they are valid in a checkout, for an installed package and in a ROS 2 workspace.
"""

from __future__ import annotations

import shlex
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

EXTRAS = {
    "record": ["rosbags>=0.11"],
    "sweep": [
        "dask>=2023.1",
        "distributed>=2023.1",
        "xarray>=2023.1",
        "zarr>=2.13",
        "netCDF4>=1.6",
    ],
    "view": ["viser>=1.1,<2", "xacro>=2.0"],
    "meshes": ["trimesh>=3.20", "pycollada>=0.7"],
    "report": ["bokeh>=3.8,<4", "matplotlib>=3.7"],
    "xacro": ["xacro>=2.0"],
    "mujoco": ["mujoco>=3.2"],
    "control": ["control>=0.9.4", "osqp>=1.0"],
    "casadi": ["casadi>=3.6"],
    "export": ["ziglang>=0.12"],
    "jax": ["jax>=0.4.34"],
    "torch": ["torch>=2.2"],
    "gym": ["gymnasium>=1.1"],
    "flight": ["jsbsim>=1.2"],
}


# Packages compiled against one version of NumPy break with another: no node starts with a NumPy
# from pip and the system's SciPy and Numba.
_KEPT = ("numpy", "scipy", "numba")


def how_to_install(extra: str) -> str:
    """Return the shell command that installs the packages of an extra for this Python.

    If the operating system manages this Python (PEP 668), pip is not permitted; the command then
    first creates a virtual environment with access to the system's packages, including ROS 2.
    System packages against which others are compiled keep their versions.
    """
    packages = " ".join(map(shlex.quote, [*EXTRAS[extra], *_system_requirements()]))
    if not _belongs_to_the_system():
        return f"{shlex.quote(sys.executable or 'python3')} -m pip install {packages}"
    return (
        "python3 -m venv --system-site-packages ~/robodyn-env && "
        f"~/robodyn-env/bin/pip install {packages}, then work in that environment (source "
        "~/robodyn-env/bin/activate): this Python belongs to the system, which does not let pip "
        "change it (PEP 668)"
    )


@contextmanager
def require_extra(extra: str, what: str, package: str) -> Iterator[None]:
    """Convert an ImportError within this context to an error with instructions.

    Args:
        extra: extra that contains the required packages.
        what: feature that requires them, for the message.
        package: name of the package, stored as the value of the error.

    Raises:
        MissingExtra: an import failed; the message states how to install the packages.
    """
    try:
        yield
    except ImportError as error:
        # imported here, since setup.py runs this file before anything is installed
        from robodyn.errors import MissingExtra

        raise MissingExtra(f"{what}: {how_to_install(extra)}", value=package) from error


def _system_requirements() -> list[str]:
    """Return requirements that pin the system's packages to their installed versions."""
    found = []
    for name in _KEPT:
        with suppress(PackageNotFoundError):
            package = distribution(name)
            own = Path(sys.prefix) in Path(str(package.locate_file(""))).parents
            if _belongs_to_the_system() or not own:
                found.append(f"{name}=={package.version}")
    return found


def _belongs_to_the_system() -> bool:
    marker = Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED"
    return sys.prefix == sys.base_prefix and marker.is_file()
