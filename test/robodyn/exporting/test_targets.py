# SPDX-License-Identifier: Apache-2.0

"""Libraries for other processors, linked by ziglang and run under qemu."""

import platform
import shutil
import subprocess
from importlib.util import find_spec

import numpy as np
import pytest
from llvmlite import binding
from partial_export import partial_llvm, write_library
from program import Program
from states import expected, random_states

import robodyn as rd
from robodyn.algorithms import stepping
from robodyn.dynamics.compiled_run import StepSettings
from robodyn.exporting import target_of

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc)"),
    pytest.mark.slow,
]
HAS_ZIG = find_spec("ziglang") is not None
ROWS = 20
# those of which results are compared
FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "configuration", "mass_matrix",
             "inverse_dynamics_derivatives", "condition_number", "step")  # fmt: skip
# what a processor has to have to run the level
LEVELS = {
    "baseline": "sse2",
    "v3": "avx2 bmi bmi2 f16c fma lzcnt movbe",
    "v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
}


def runs(level):
    known = binding.get_host_cpu_features()
    able = platform.machine() == "x86_64" and all(known.get(x) for x in LEVELS[level].split())
    return pytest.mark.skipif(not able, reason=f"not an x86_64 processor of level {level}")


def emulated(gcc, qemu):
    return pytest.mark.skipif(
        not (HAS_ZIG and shutil.which(gcc) and shutil.which(qemu)),
        reason=f"no ziglang (the extra `export`), {gcc} or {qemu} (apt install gcc-... qemu-user)",
    )


@pytest.fixture(scope="module")
def language():
    m = rd.load("fivebar")
    return m, partial_llvm(m, "fivebar", *FUNCTIONS)


@pytest.fixture(scope="module")
def inverse_dynamics(language):
    m, _ = language
    return m, partial_llvm(m, "fivebar", "inverse_dynamics")


EMULATED = (
    ("aarch64", "aarch64-linux-gnu-gcc", "qemu-aarch64"),
    ("armv7", "arm-linux-gnueabihf-gcc", "qemu-arm"),
    ("riscv64", "riscv64-linux-gnu-gcc", "qemu-riscv64"),
)


@pytest.mark.parametrize(
    ("target", "cpu", "gcc", "qemu"),
    [
        *(pytest.param("x86_64", level, "cc", "", marks=runs(level)) for level in LEVELS),
        *(pytest.param(name, "", *by, marks=emulated(*by)) for name, *by in EMULATED),
    ],
)
def test_a_target_gets_the_numbers_of_the_library(language, tmp_path, target, cpu, gcc, qemu):
    m, llvm = language
    made = target_of(target, cpu)
    done = write_library(m, "fivebar", tmp_path, llvm, made)
    runner = (qemu, "-L", f"/usr/{gcc[:-4]}") if qemu else ()
    program = Program(m, done, gcc, runner, only=FUNCTIONS)
    s = random_states(m, ROWS)
    status, efforts = program("inverse_dynamics", s.q, s.v, s.a, s.w, None)
    assert (status == 0).all()
    assert efforts.tobytes() == expected(m.inverse_dynamics, s.q, s.v, s.a, s.w).tobytes()
    positions, dt = m.joint_positions(s.q), np.full(ROWS, 1e-3)

    def step(q, v, tau, load):
        held = np.clip(tau, -m.effort_limits, m.effort_limits)
        return tuple(stepping.step(m, q, v, held, load, 1e-3, 2, StepSettings(rd.EndStops())))

    none = None, None
    for name, call, given, more in (
        ("forward_dynamics", m.forward_dynamics, (s.q, s.v, s.tau, s.w), (None,)),
        ("configuration", m.assemble, (positions,), (np.tile(m.home, (ROWS, 1)),)),
        ("mass_matrix", m.mass_matrix, (s.q,), ()),
        ("inverse_dynamics_derivatives", m.inverse_dynamics_derivatives, (s.q, s.v, s.a), none),
        ("condition_number", lambda q: m.condition_number(q, 0.7), (s.q,), (np.full(ROWS, 0.7),)),
        ("step", step, (s.q, s.v, s.tau, s.w), (None, dt, np.full(ROWS, 2))),
    ):
        status, *found = program(name, *given, *more)
        reference = expected(call, *given)
        assert (status == 0).all()
        bound = 1e-13 * np.abs(reference).max()
        np.testing.assert_allclose(np.hstack(found), reference, rtol=1e-13, atol=bound)


@pytest.mark.skipif(not HAS_ZIG, reason="no ziglang (the extra `export`)")
@pytest.mark.parametrize("name", ["armv7", "riscv64", "thumbv7em"])
def test_other_processors_get_a_static_library(inverse_dynamics, tmp_path, name):
    target = target_of(name, "")
    assert target.is_bare == (name == "thumbv7em")
    m, llvm = inverse_dynamics
    write_library(m, "fivebar", tmp_path, llvm, target)
    assert (tmp_path / "libfivebar.a").stat().st_size > 10_000


MICROCONTROLLER = """
#include <stdio.h>
#include "fivebar.h"
extern void _start(void);
static void enter(void) {
  *(volatile unsigned *)0xE000ED88 |= 0xF << 20; /* the unit for floating point on */
  _start();
}
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    (void *)0x20400000, (void *)enter};
int main(void) {
  double in[FIVEBAR_NQ + 2 * FIVEBAR_NV + 6], *v = in + FIVEBAR_NQ, *a = v + FIVEBAR_NV;
  double out[FIVEBAR_N];
  FILE *given = fopen("in", "rb"), *found = fopen("out", "wb");
  while (fread(in, sizeof in, 1, given)) {
    if (fivebar_inverse_dynamics(in, v, a, a + FIVEBAR_NV, 0, out)) return 1;
    fwrite(out, sizeof out, 1, found);
  }
  return fclose(found);
}
"""


@emulated("arm-none-eabi-gcc", "qemu-system-arm")
def test_a_microcontroller_gets_the_bits_of_the_library(language, tmp_path):
    m, llvm = language
    write_library(m, "fivebar", tmp_path, llvm, target_of("thumbv7em", "cortex-m7"))
    tmp_path.joinpath("main.c").write_text(MICROCONTROLLER)
    processor = ["-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16"]
    # newlib with files of this machine, by semihosting; a Cortex-M begins at the vectors at 0
    linked = [
        "main.c",
        "libfivebar.a",
        "-lm",
        "--specs=rdimon.specs",
        "-Wl,--section-start=.vectors=0",
    ]
    gcc = ["arm-none-eabi-gcc", *processor, *linked, "-o", "main"]
    subprocess.run(gcc, cwd=tmp_path, check=True)
    s = random_states(m, ROWS)
    np.hstack([s.q, s.v, s.a, s.w]).tofile(tmp_path / "in")
    board = ["qemu-system-arm", "-M", "mps2-an500", "-semihosting", "-nographic", "-kernel", "main"]
    subprocess.run(board, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=60, check=True)
    found = np.fromfile(tmp_path / "out").reshape(ROWS, -1)
    assert found.tobytes() == expected(m.inverse_dynamics, s.q, s.v, s.a, s.w).tobytes()
