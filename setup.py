# SPDX-License-Identifier: Apache-2.0

"""Package robodyn: the library `robodyn` and the ROS 2 nodes `robodyn_ros`."""

import re
import runpy
from glob import glob
from pathlib import Path

from setuptools import find_packages, setup

# `colcon build --symlink-install` runs a link to this file where there is no README
README = Path(__file__).resolve().with_name("README.md")

VERSION = re.search(
    r'__version__ = "([^"]+)"', README.with_name("robodyn").joinpath("version.py").read_text()
).group(1)
NODES = runpy.run_path(str(README.with_name("robodyn_ros") / "nodes.py"))["NODES"]
EXTRAS = runpy.run_path(str(README.with_name("robodyn") / "extras.py"))["EXTRAS"]

# `ros2 run` looks in lib/robodyn for an executable of the node's name: each is a link to one file.
for node in NODES:
    executable = README.with_name("scripts") / node
    if not executable.exists():
        executable.unlink(missing_ok=True)  # a link that leads nowhere
        executable.symlink_to("run_node")

setup(
    name="robodyn",
    version=VERSION,
    description=(
        "Dynamics of parallel and serial robots for ROS 2 and Python: exact inverse and forward "
        "dynamics of Stewart platforms, arms and closed loops, planning, control and simulation."
    ),
    long_description=README.read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="robodyn developers",
    maintainer="robodyn developers",
    license="Apache-2.0",
    keywords=["robotics", "dynamics", "stewart-platform", "parallel-robots", "urdf", "ros2"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering",
        "Topic :: Scientific/Engineering :: Physics",
        "Typing :: Typed",
    ],
    python_requires=">=3.10",
    packages=find_packages(include=["robodyn", "robodyn.*", "robodyn_ros", "robodyn_ros.*"]),
    package_data={
        "robodyn": [
            "bundled/*.yaml",
            "bundled/*.urdf",
            "bundled/paths/*.yaml",
            "schemas/*.json",
            "templates/*",
            "report/page.css",
            "report/page.js",
            "planning/templates/*",
            "exporting/templates/fmu/*",
            "exporting/templates/library/*",
            "exporting/templates/wasm/*",
            "exporting/templates/ros2_control/*",
            "exporting/templates/ros2_control/*/*",
            "py.typed",
            "__init__.pyi",
            "cli/options.json",
        ],
        "robodyn_ros": ["parameters.yaml"],
    },
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/robodyn"]),
        ("share/robodyn", ["package.xml", "LICENSE"]),
        ("share/robodyn/launch", sorted(glob("launch/*.launch.py"))),
        ("share/robodyn/config", sorted(glob("config/*"))),
        ("share/robodyn/urdf", sorted(glob("urdf/*"))),
        ("share/robodyn/rviz", sorted(glob("rviz/*"))),
        # As console_scripts, pip would put them on everybody's PATH.
        # The command, too: what `colcon build --symlink-install` makes of it knows one Python only.
        ("lib/robodyn", [f"scripts/{name}" for name in (*NODES, "robodyn")]),
    ],
    install_requires=[
        "setuptools",
        "numpy>=1.21",
        "scipy>=1.8",
        # the newest that was tested: robodyn/numerics/numba_compat.py has its private interfaces
        "numba>=0.55,<0.69",
        "PyYAML>=5.4",
        "urdf_parser_py>=0.0.4",
        "typer>=0.4",
        "rich>=10",
    ],
    extras_require=EXTRAS
    | {
        "test": ["pytest", "hypothesis", "jsonschema", "pin", "control", "mujoco", "xacro>=2.0"],
        "dev": ["ruff", "mypy", "types-PyYAML", "import-linter", "codespell"],
    },
    zip_safe=False,
    entry_points={
        "console_scripts": ["robodyn = robodyn.cli:main"],
        # for bare/, whose `ros2 run` finds nodes of editable installations, too
        "robodyn.nodes": [f"{node} = robodyn_ros.entry:main" for node in NODES],
    },
)
