# SPDX-License-Identifier: Apache-2.0

"""Libraries for other processors, linked by ziglang and run under qemu."""

import platform
import shutil
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from program import Program
from states import expected, random_states

import robodyn as rd
from robodyn.exporting.export import Exported
from robodyn.exporting.functions import functions_of
from robodyn.exporting.linking import link
from robodyn.exporting.machine_code import llvm_of, object_of, target_of
from robodyn.exporting.texts import header

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc)")
HAS_ZIG = find_spec("ziglang") is not None
ZIG = f"{sys.executable} -m ziglang cc -target aarch64-linux-musl"
ON_X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="for x86_64 only")
ON_ARM = pytest.mark.skipif(
    not HAS_ZIG or shutil.which("qemu-aarch64") is None,
    reason="no ziglang (the extra `export`), or no qemu-aarch64 (apt install qemu-user)",
)


@pytest.fixture(scope="module")
def language():
    m = rd.load("fivebar")
    return m, llvm_of("fivebar", m, functions_of(m))


@pytest.mark.parametrize(
    ("target", "cpu", "compiler", "runner"),
    [
        pytest.param("x86_64", "baseline", "cc", (), marks=ON_X86),
        pytest.param("aarch64-linux-musl", "", ZIG, ("qemu-aarch64",), marks=ON_ARM),
    ],
)
def test_a_target_gets_the_numbers_of_the_library(
    language, tmp_path, target, cpu, compiler, runner
):
    m, llvm = language
    wanted = target_of(target, cpu)
    obj = tmp_path / "fivebar.o"
    obj.write_bytes(object_of(llvm, wanted))
    link(wanted, obj, tmp_path / "libfivebar.a", None)
    tmp_path.joinpath("fivebar.h").write_text(header("fivebar", m))
    done = Exported("fivebar", tmp_path, ())
    program = Program(m, done, compiler, runner, ("-static",) if runner else ())
    s = random_states(m, 20)
    status, efforts = program("inverse_dynamics", s.q, s.v, s.a, s.w, None)
    assert (status == 0).all()
    assert efforts.tobytes() == expected(m.inverse_dynamics, s.q, s.v, s.a, s.w).tobytes()
    positions = m.joint_positions(s.q)
    for name, call, *given in (
        ("forward_dynamics", m.forward_dynamics, s.q, s.v, s.tau, s.w),
        ("configuration", m.assemble, positions, np.tile(m.home, (20, 1))),
        ("mass_matrix", m.mass_matrix, s.q),
    ):
        inputs = [*given, None] if name == "forward_dynamics" else given
        status, found = program(name, *inputs)
        wanted = expected(call, *given)
        assert (status == 0).all()
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13 * np.abs(wanted).max())


@pytest.mark.skipif(not HAS_ZIG, reason="no ziglang (the extra `export`)")
@pytest.mark.parametrize("name", ["armv7", "riscv64", "thumbv7em"])
def test_other_processors_get_a_static_library(language, tmp_path, name):
    target, obj, static = target_of(name, ""), tmp_path / "fivebar.o", tmp_path / "libfivebar.a"
    assert target.is_bare == (name == "thumbv7em")
    obj.write_bytes(object_of(language[1], target))
    link(target, obj, static, None)
    assert static.stat().st_size > 10_000
