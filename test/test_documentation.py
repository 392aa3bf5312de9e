# SPDX-License-Identifier: Apache-2.0

"""Every block of code in the documentation: Python runs, commands and files are what there is.

Commands are not carried out here (tests of the command line and of the launches do that), but each
program, subcommand, option, launch argument, node, topic and script that they name exists.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import shlex
import shutil
import subprocess
import sys
import types
import warnings
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import typer
import yaml
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app
from robodyn.errors import MissingExtra
from robodyn.exporting import header
from robodyn.loading import unregister_kind
from robodyn_ros.nodes import NODES

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^( *)```(\S*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
# Long computations are done more coarsely.
QUICKER = {
    "condition_limit=8.0)": "condition_limit=8.0, error=0.2, resolution=12)",
    'bounds={"base_radius": (0.4, 0.8)}': 'bounds={"base_radius": (0.4, 0.8)}, evaluations=60',
    '["rx", "ry", "rz"], constant=["z"])': '["rz"], constant=["z"], controls=6)',
}
# An action client: test/robodyn_ros/test_ros_trajectory_action.py has one where there are actions.
# A launch file of MoveIt: there is no package of it for Python alone.
NOT_INSTALLED = ("control_msgs", "moveit_configs_utils", "stable_baselines3")

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="an installed package has no docs")


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        indent, language, inside = match.groups()
        inside = "".join(each.removeprefix(indent) for each in inside.splitlines(keepends=True))
        found.append(Block(page, line, language or "bash", inside))
    return found


# reference.md is made from docstrings when the site is built
PAGES = sorted({*DOCS.glob("*.md")} - {DOCS / "reference.md"})
PAGES += [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def in_language(*languages: str) -> list[Block]:
    return [block for block in BLOCKS if block.language in languages]


def test_every_block_is_of_a_kind_that_is_tested():
    known = {"python", "bash", "yaml", "xml", "text", "console", "c", "js", "{toctree}", "{grid}"}
    assert {block.language for block in BLOCKS} <= known
    assert len(in_language("python")) > 20
    assert len(in_language("bash")) > 40


def test_parts_of_files_that_pages_include_exist():
    included = 0
    for page in PAGES:
        for name, part in re.findall(r":::{literalinclude} (\S+)\n:[\w-]+: (.*)", page.read_text()):
            assert part.strip('"') in (page.parent / name).read_text(), (page, name, part)
            included += 1
    assert included > 5


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node")
@pytest.mark.parametrize("block", in_language("js"), ids=str)
def test_javascript_parses(block, tmp_path):
    file = tmp_path / "block.mjs"
    file.write_text(block.text)
    subprocess.run(["node", "--check", file], check=True)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc)")
@pytest.mark.parametrize("block", in_language("c"), ids=str)
def test_c_compiles_with_the_header_that_it_includes(block, tmp_path):
    name = re.search(r'#include "(\w+)\.h"', block.text)[1]
    tmp_path.joinpath(f"{name}.h").write_text(header(name, rd.load(name)))
    tmp_path.joinpath("block.c").write_text(block.text)
    command = ["cc", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic", "block.c"]
    subprocess.run(command, cwd=tmp_path, check=True)


# ---------------------------------------------------------------------------- Python


def recorded(m, folder: Path, seconds: float = 5.0) -> None:
    """A rosbag2 of an arm's joints and torques along its demonstration."""
    from rosbags.rosbag2 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    kind = "sensor_msgs/msg/JointState"
    types = store.types
    times = np.arange(0.0, seconds, 0.01)
    motion = rd.load_path("demo", m).sample(times)
    effort = m.inverse_dynamics(*motion)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with Writer(folder, version=9) as writer:
        connection = writer.add_connection("/joint_states", kind, typestore=store)
        for row, time in enumerate(times):
            stamp = types["builtin_interfaces/msg/Time"](*divmod(round(time * 1e9), 10**9))
            header = types["std_msgs/msg/Header"](stamp, "")
            values = (motion.configuration[row], motion.velocity[row], effort[row])
            message = types[kind](header, m.joint_names, *values)
            writer.write(connection, round(time * 1e9), store.serialize_cdr(message, kind))


def measured(m, file: Path) -> None:
    """Poses of a platform within its strokes, and its legs' lengths in them."""
    random = np.random.default_rng(1)
    change = random.uniform(-1.0, 1.0, (30, 6)) * [0.05, 0.05, 0.05, 0.1, 0.1, 0.1]
    pose = m.advance(m.home, change)
    taken = rd.Measurements.from_arrays(m, m.joint_positions(pose), pose=pose)
    taken.to_csv(file, m)


def prepare(page: str, folder: Path) -> None:
    """Write the files that a page takes for granted."""
    if page == "design.md":
        runner = CliRunner()
        done = runner.invoke(app, ["new", "requirements", str(folder / "cockpit.yaml")])
        assert done.exit_code == 0, done.output
    if page == "calibration.md":
        (folder / "my_hexapod.yaml").write_bytes(
            (ROOT / "robodyn/bundled/stewart_symmetric.yaml").read_bytes()
        )
        measured(rd.load(folder / "my_hexapod.yaml"), folder / "measured.csv")
    if page in ("identification.md", "recording.md"):
        pytest.importorskip("rosbags", reason="the extra `record` is not installed")
        m = rd.load("puma560")
        text = "".join(block.text for block in blocks_of(DOCS / page))
        for bag in re.findall(r'"(\S*rosbag2_[^"]+)"', text):
            recorded(m, folder / bag)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(block.language == "python" for block in blocks_of(page))],
    ids=lambda page: page.stem,
)
def test_python_runs(page, tmp_path, monkeypatch, capsys):
    """A page's blocks run one after another, as a reader would try them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "test/robodyn/solvers/third_kind")
    known = set(rd.kinds())
    with warnings.catch_warnings():
        # the papers' own inertias
        warnings.filterwarnings("ignore", message=".*no rigid body has the principal moments")
        prepare(page.name, tmp_path)
        names: dict[str, object] = {}
        for block in blocks_of(page):
            if block.language != "python":
                continue
            text = block.text
            for slow, quick in QUICKER.items():
                text = text.replace(slow, quick)
            code = compile(text, str(block), "exec")
            if not any(package in text for package in NOT_INSTALLED):
                try:
                    exec(code, names)
                except MissingExtra as error:
                    pytest.skip(str(error))
    for kind in set(rd.kinds()) - known:
        unregister_kind(kind)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", sorted(DOCS.glob("notebooks/*.ipynb")), ids=lambda n: n.stem)
@pytest.mark.filterwarnings("ignore:.*no rigid body has the principal moments")
def test_notebook_runs(notebook):
    plt = pytest.importorskip("matplotlib.pyplot")
    if notebook.stem == "learning":
        pytest.importorskip("jax")
    names: dict[str, object] = {}
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []  # they are made with the site
            exec("".join(cell["source"]), names)
    plt.close("all")


# ---------------------------------------------------------------------------- commands


def commands_of(block: Block) -> list[list[str]]:
    """The words of each command, without comments."""
    text = block.text.replace("\\\n", " ")
    text = re.sub(r"\$\([^)]*\)", "there", text)
    commands, pending = [], ""
    for line in text.splitlines():
        pending += line + "\n"
        lexer = shlex.shlex(pending, posix=True, punctuation_chars=";&")
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:  # the quotation continues in the next line
            continue
        pending, command = "", []
        for word in [*words, ";"]:
            if set(word) <= set(";&"):
                commands.append(command)
                command = []
            elif word != "do" or command:
                command.append(word)
    assert not pending, f"{block}: a quotation has no end"
    return [command for command in commands if command]


def check_robodyn(words: list[str]) -> None:
    """The command line parses as the command does it; nothing is carried out."""
    command = typer.main.get_command(app)
    name, parent = "robodyn", None
    while hasattr(command, "resolve_command"):
        name, found, words = command.resolve_command(
            command.make_context(name, list(words), parent=parent, resilient_parsing=True), words
        )
        command = found
    command.make_context(name, list(words))


def check_launch(words: list[str]) -> None:
    """The launch file exists and declares the arguments."""
    package, file, *arguments = words
    assert package == "robodyn"
    path = ROOT / "launch" / file
    spec = importlib.util.spec_from_file_location(path.stem.replace(".", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    declared = {each.name for each in module.generate_launch_description().get_launch_arguments()}
    assert {each.partition(":=")[0] for each in arguments} <= declared


NODES_PAGE = (DOCS / "nodes.md").read_text(encoding="utf-8") if DOCS.exists() else ""
NAMES = set(re.findall(r"^\| \w+ \| `([^`]+)`", NODES_PAGE, re.MULTILINE))
CONFIGS = "".join(each.read_text() for each in (ROOT / "config").glob("*.yaml"))
PARAMETERS = set(re.findall(r"^(?:\| `| +)(\w+)\b", NODES_PAGE + CONFIGS, re.MULTILINE))


def check_name(name: str) -> None:
    """A topic, service or action of a node, with or without the node's name before it."""
    known = {each.lstrip("/") for each in NAMES}
    node, _, rest = name.lstrip("/").partition("/")
    # an action is in the text only: where the page is made there may be none
    known_of_node = known | set(re.findall(r"`(~/[^`]+)`", NODES_PAGE))
    assert name.lstrip("/") in known or (node in NODES and f"~/{rest}" in known_of_node), name


def check_ros2(words: list[str]) -> None:
    verb, *rest = words
    names = [word for word in rest if word.startswith("/")]
    if verb == "launch":
        check_launch(rest)
    elif verb == "run":
        package, node, *options = rest
        assert package == "robodyn"
        assert node in NODES
        given = {option.partition(":=")[0] for option in options if ":=" in option}
        assert given <= PARAMETERS
    elif verb in ("topic", "service", "action"):
        for name in names:
            check_name(name)
    elif verb in ("param", "lifecycle"):
        assert {name[1:] for name in names} <= {*NODES, "$node"}
        if verb == "param":
            assert rest[2] in PARAMETERS
    else:
        assert verb in ("security", "control")


def check_python(words: list[str]) -> None:
    script = words[1] if words[0] == "-m" else words[0]
    if words[0] == "-m":
        assert importlib.util.find_spec(script)
    else:
        assert script == "wave.py" or (ROOT / script).is_file()


def check_make(words: list[str]) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert words[0] in targets
    for word in words[1:]:
        name, _, value = word.partition("=")
        assert name in ("ARGS", "MODEL")
        if name == "ARGS" and ":=" in value:
            check_launch(["robodyn", "stewart_sim.launch.py", *value.split()])


def check_pip(words: list[str]) -> None:
    from robodyn.extras import EXTRAS

    asked = re.findall(r"\[([\w,]+)\]", " ".join(words))
    assert {extra for each in asked for extra in each.split(",")} <= set(EXTRAS)


CHECKS = {
    "robodyn": check_robodyn,
    "ros2": check_ros2,
    "make": check_make,
    "python": check_python,
    "python3": check_python,
    "pip": check_pip,
}
# of others
FOREIGN = {
    "rosdep",
    "colcon",
    "git",
    "source",
    "export",
    "dask",
    "jupyter",
    "plotjuggler",
    "for",
    "done",
}


@pytest.mark.parametrize("block", in_language("bash"), ids=str)
def test_commands_are_those_that_there_are(block):
    pytest.importorskip("launch", reason="launch files import it")
    for program, *words in commands_of(block):
        if program in CHECKS:
            CHECKS[program](words)
        else:
            assert program in FOREIGN, program


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_scripts_and_targets_named_in_the_text_exist(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for inline in re.findall(r"`((?:make|python|python3) [^`\n]+)`", text):
        program, *words = shlex.split(inline)
        CHECKS[program](words)


# ---------------------------------------------------------------------------- files


@pytest.mark.parametrize("block", in_language("yaml"), ids=str)
def test_yaml_is_yaml(block):
    yaml.safe_load(block.text)


def test_moveit_gets_the_action_and_of_rates_below_the_models():
    """The controller is our node and its action; rates are 5 % below the limits, as documented."""
    blocks = [block for block in in_language("yaml") if block.page.name == "moveit.md"]
    controllers, limits = (yaml.safe_load(block.text) for block in blocks)
    with warnings.catch_warnings():
        # the paper's own inertias
        warnings.filterwarnings("ignore", message=".*no rigid body has the principal moments")
        m = rd.load("puma560")
    managed = controllers["moveit_simple_controller_manager"]
    (name,) = managed["controller_names"]
    check_name(f"/{name}/{managed[name]['action_ns']}")
    assert managed[name]["joints"] == list(m.independent_joints)
    reported = limits["joint_limits"]
    assert list(reported) == list(m.independent_joints)
    rates = [joint["max_velocity"] for joint in reported.values()]
    np.testing.assert_allclose(rates, 0.95 * m.velocity_limits, atol=0.006)


@pytest.mark.parametrize("block", in_language("xml"), ids=str)
def test_xml_is_well_formed(block):
    ElementTree.fromstring(f"<page>{block.text}</page>")


# ---------------------------------------------------------------------------- the reference


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The names that the page of the reference documents."""
    spec = importlib.util.spec_from_file_location("reference_pages", DOCS / "reference_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = tmp_path_factory.mktemp("reference") / "reference.md"
    module.write_reference(page)
    return set(re.findall(r"^\.\. auto\w+:: (\S+)$", page.read_text(), re.MULTILINE))


def test_every_public_name_is_in_the_reference(reference):
    assert {f"robodyn.{name}" for name in rd.__all__} <= reference


@pytest.fixture
def some_torch(monkeypatch):
    """PyTorch, or if it is not installed what `import robodyn.torch` requires of it."""
    if importlib.util.find_spec("torch"):
        yield
        return
    for name in ("torch", "torch.autograd"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules["torch.autograd"].Function = object
    yield
    del sys.modules["robodyn.torch"], rd.torch


def test_every_name_in_the_reference_exists(reference, some_torch):
    for name in reference:
        module, _, member = name.rpartition(".")
        value = getattr(importlib.import_module(module), member)
        assert inspect.getdoc(value), name


def functions_of(name: str) -> dict[str, object]:
    """Public functions or, of a class, its public methods and their common docstring."""
    value = getattr(rd, name)
    if inspect.isfunction(value):
        return {name: value}
    if not inspect.isclass(value) or issubclass(value, Exception):
        return {}
    members = inspect.getmembers(value, inspect.isfunction)
    return {f"{name}.{key}": each for key, each in members if not key.startswith("_")}


@pytest.mark.parametrize("name", rd.__all__)
def test_arrays_have_shapes_and_units(name):
    """With the argument or the result, or in a class for all its methods."""
    value = getattr(rd, name)
    shared = inspect.getdoc(value) if inspect.isclass(value) else ""
    for full_name, function in functions_of(name).items():
        signature = str(inspect.signature(function))
        if "Array" in signature and function.__module__.startswith("robodyn"):
            reported = f"{shared}\n{inspect.getdoc(function)}"
            assert re.search(r"\((\.\.\.|[A-Za-z]\w*,|\d+,)[^)]*\)", reported), (
                f"{full_name}: shape"
            )
            assert re.search(r"\[[^\]]*\b(m|s|rad|N|kg|-)\b[^\]]*\]|SI units", reported), full_name
