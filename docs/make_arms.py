# SPDX-License-Identifier: Apache-2.0

"""Generate the tables of docs/arms.md between its `<!-- table: name -->` and `<!-- end -->` marks.

python docs/make_arms.py           write them
python docs/make_arms.py --check   exit with 1 if the page is out of date
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from generated import table, with_tables, write_or_check

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.operations import GIVEN, PROJECTION, REPORT_ROWS, REPORT_TOTAL, count_arm
from benchmarks.roofline import operations
from robodyn.loading.load import load

PAGE = Path(__file__).with_name("arms.md")
SIZES = range(2, 13)

# Counts in the paper on the Stewart platform: its own, and Fu, Gonzalez and Lee's for an
# arm of n joints, 132 n multiplications and 111 n - 4 additions.
PAPER_STEWART = 4889
PAPER_ARM = 132 * 6 + 111 * 6 - 4

WHY = {
    ("newton_euler", "alpha_i"): "omega x z costs two multiplications by the rate",
    ("newton_euler", "f_i"): "m abar of the last link is not counted, like its R f",
    ("newton_euler", "r_i x R f"): "the last link has no successor, as in the row of f_i",
    ("newton_euler", "R n"): "the same",
    ("newton_euler", "add n"): "five vectors take four additions, not five; last link two",
    ("modified_newton_euler", "alpha_i"): "as above",
    ("modified_newton_euler", "a_i"): "the last link's m abar needs R a of the link before",
    ("modified_newton_euler", "r_i x R f"): "as above",
    ("modified_newton_euler", "R n"): "as above",
    ("modified_newton_euler", "add n"): "four vectors, three additions; last link one",
    ("lagrange", "bracket J"): (
        "the appendix lists 16 q multiplications for the sum over q'', then omits them; it counts "
        "16 (q^2 - 1) additions for a sum of q (q + 1)/2 matrices, and then sums q (q + 1) to "
        "n (n^2 - 1)/3; doubling the mixed products q'_j q'_k adds q (q - 1)/2"
    ),
    ("lagrange", "trace"): "the sum starts with the motor's effort",
    ("lagrange", "gravity"): "g is not folded into m rbar, to allow any direction of gravity",
}


def main() -> int:
    """Write the tables, or check whether they are up to date."""
    warnings.simplefilter("ignore")
    return write_or_check(PAGE, with_tables(PAGE, TABLES))


def equality() -> str:
    """Largest difference between methods, relative to the largest entry.

    Strobing is how Turney, Mudge and Lee obtain the matrices of the dynamics: they evaluate the
    inverse dynamics for unit vectors of rates or accelerations, one column at a time.
    """
    rng = np.random.default_rng(1980)
    rows = []
    for name in ("puma560", "stanford_arm"):
        arm: Any = load(name)
        q, qd, qdd = rng.uniform(-1.5, 1.5, (3, 1000, arm.n))
        wrench = rng.normal(size=(1000, 6)) * 20.0
        tau = arm.inverse_dynamics(q, qd, qdd, wrench)
        M = arm.mass_matrix(q)
        C = np.einsum("sij,sj->si", arm.coriolis_matrix(q, qd), qd)
        terms = arm.bias(q, qd, friction=False) - arm.gravity(q)
        bodies = arm.forward_dynamics(q, qd, tau, wrench)
        rows += [
            [
                name,
                "modified_newton_euler",
                gap(tau, arm, "modified_newton_euler", q, qd, qdd, wrench),
            ],
            [name, "lagrange", gap(tau, arm, "lagrange", q, qd, qdd, wrench)],
            [
                name,
                "mass matrix, strobing - composite",
                relative(arm.mass_matrix(q, "strobing"), M),
            ],
            [name, "velocity terms, strobing - recursion", relative(C, terms)],
            [
                name,
                "forward dynamics, strobing - articulated",
                relative(arm.forward_dynamics(q, qd, tau, wrench, "strobing"), bodies),
            ],
            [name, "forward after inverse dynamics", relative(bodies, qdd)],
        ]
    return table(["arm", "quantity", "largest difference"], rows)


def gap(tau: Any, arm: Any, method: str, *motion: Any) -> str:
    """Difference of one inverse dynamics from `tau`."""
    return relative(arm.inverse_dynamics(*motion, method), tau)


def relative(a: Any, b: Any) -> str:
    """The first of three bounds that holds with a margin; the last digits vary between machines."""
    ratio = 10.0 * np.abs(a - b).max() / np.abs(b).max()
    return next(
        f"below {bound}" for bound in ("1e-13", "1e-11", "1e-9", "inf") if ratio < float(bound)
    )


def totals() -> str:
    """Measured and printed totals for n = 2 to 12, multiplications / additions."""
    head = ["n"]
    for method in REPORT_TOTAL:
        head += [f"{title(method)}, measured", "printed"]
    rows = []
    for n in SIZES:
        row = [str(n)]
        for method, printed in REPORT_TOTAL.items():
            row.append(pair(count_arm(method, n).total(without=(GIVEN, PROJECTION))))
            row.append(pair(formula(n) for formula in printed))
        rows.append(row)
    return table(head, rows)


def rows_of(method: str) -> Callable[[], str]:
    """Table of one method: count of each row, and the reason for a difference."""

    def make() -> str:
        tallies = {n: count_arm(method, n) for n in SIZES}
        rows = []
        for row, printed in REPORT_ROWS[method].items():
            measured = [
                polynomial([tallies[n].multiplications[row] for n in SIZES]),
                polynomial([tallies[n].additions[row] for n in SIZES]),
            ]
            stated = [polynomial([formula(n) for n in SIZES]) for formula in printed]
            same = measured == stated
            why = "" if same else WHY[method, row]
            rows.append([f"`{row}`", *measured, *stated, "yes" if same else "no", why])
        head = ["row", "mult.", "add.", "mult., printed", "add., printed", "equal"]
        return table([*head, "reason for the difference"], rows)

    return make


def everything() -> str:
    """Operations of a whole call, including those that the rules exclude; platform as well."""
    rows = []
    for method in REPORT_TOTAL:
        tally = count_arm(method, 6)
        rows.append([f"arm, 6 joints, {title(method)}", *map(str, tally.total()), "0"])
    arm = sum(count_arm("newton_euler", 6).total())
    tally = count_stewart()
    multiplications, additions = tally.total()
    roots = tally.functions["sqrt"]
    rows.append(["Stewart platform, exact", str(multiplications), str(additions), str(roots)])
    ours = multiplications + additions + roots
    text = table(["", "multiplications", "additions", "square roots"], rows)
    text += "\n" + table(
        ["", "Stewart platform", "arm of 6 joints", "ratio"],
        [
            ["the paper", str(PAPER_STEWART), str(PAPER_ARM), f"{PAPER_STEWART / PAPER_ARM:.2f}"],
            ["measured here", str(ours), str(arm), f"{ours / arm:.2f}"],
        ],
    )
    return text


def count_stewart() -> Any:
    """One exact inverse dynamics of the test manipulator."""
    platform: Any = load("stewart_dasgupta")
    pose = np.array([0.2, 0.0, 0.5, 0.0, 0.0, 0.6, 0.8])
    return operations(platform, pose, np.linspace(0.1, 0.6, 6), np.linspace(0.2, 0.7, 6))


def polynomial(counts: Sequence[int]) -> str:
    """The cubic polynomial in n that equals the counts."""
    n = np.array(SIZES, dtype=float)
    sixths = np.rint(np.polyfit(n, np.array(counts) * 6.0, 3)).astype(int)
    if not np.array_equal(np.rint(np.polyval(sixths, n) / 6.0), counts):
        raise ValueError(f"no cubic in n: {list(counts)}")
    text = ""
    for power, value in zip((3, 2, 1, 0), sixths, strict=True):
        if value:
            size = abs(int(value))
            number = str(size // 6) if size % 6 == 0 else fraction(size)
            unit = ("", "n", "n^2", "n^3")[power]
            text += (" - " if value < 0 else " + ") + (
                unit if number == "1" and unit else f"{number}{unit and ' '}{unit}"
            )
    return text.removeprefix(" + ").strip() or "0"


def fraction(sixths: int) -> str:
    """Sixths in lowest terms."""
    common = int(np.gcd(sixths, 6))
    return f"{sixths // common}/{6 // common}"


def title(method: str) -> str:
    """A method's name in words."""
    return method.replace("_", " ").replace("newton euler", "Newton-Euler")


def pair(counts: Iterable[int]) -> str:
    """Multiplications / additions."""
    return " / ".join(map(str, counts))


TABLES: dict[str, Callable[[], str]] = {
    "equality": equality,
    "totals": totals,
    "everything": everything,
    **{method: rows_of(method) for method in REPORT_ROWS},
}

if __name__ == "__main__":
    sys.exit(main())
