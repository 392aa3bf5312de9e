# SPDX-License-Identifier: Apache-2.0

"""Formulations of the inverse dynamics of a Stewart platform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from robodyn.checks import check_choice
from robodyn.solvers.stewart.kernels import published

_SPINS = {
    "true": published.TRUE_SPIN,
    "none": published.NO_SPIN,
    "2012": published.SPIN_2012,
}
_MOMENTS = {"c": published.ALONG_C, "leg": published.ALONG_LEG}
_SHIFTS = {
    "none": published.NO_SHIFT,
    "1998": published.SHIFT_1998,
    "2012": published.SHIFT_2012,
}


@dataclass(frozen=True)
class Formulation:
    """Formulation of the inverse dynamics; the defaults are exact.

    Attributes:
        massless: legs without mass and friction (Dasgupta 1998, eq. 41); overrides the other
            fields.
        spin: a leg's rotation about its axis: `true`, imposed by the universal joint; `none`
            (Dasgupta 1998, eq. 6 and 9); `2012`, with its axial acceleration as printed by
            Pedrammehr (2012), eq. 25.
        moment: direction of the universal joint's constraint moment. `c`, normal to both axes;
            `leg`, along the leg (Dasgupta 1998, eq. 17 to 22).
        shift: parallel-axis terms added to inertias about the center of mass. `none`; `1998`, as
            Dasgupta, eq. 16; `2012`, as Pedrammehr, eq. 32, 33 and 50.
    """

    massless: bool = False
    spin: str = "true"
    moment: str = "c"
    shift: str = "none"

    def __post_init__(self) -> None:
        for name, known in (("spin", _SPINS), ("moment", _MOMENTS), ("shift", _SHIFTS)):
            check_choice(name, getattr(self, name), known)

    @property
    def is_exact(self) -> bool:
        """Whether this formulation equals the exact equations."""
        return self == Formulation()

    @property
    def codes(self) -> tuple[int, int, int]:
        """Integer codes of spin, moment and shift, as the compiled equations expect them."""
        return _SPINS[self.spin], _MOMENTS[self.moment], _SHIFTS[self.shift]


FormulationName = Literal["exact", "massless", "dasgupta1998", "pedrammehr2012"]
FORMULATIONS: dict[str, Formulation] = {
    "exact": Formulation(),
    "massless": Formulation(massless=True),
    "dasgupta1998": Formulation(spin="none", moment="leg", shift="1998"),
    # Equations 31 to 40 and 45 to 50; 41 to 43 drop terms of a leg that is not symmetric.
    "pedrammehr2012": Formulation(spin="2012", shift="2012"),
}

# Models for which the papers use these formulations.
PUBLISHED_MODELS = ("stewart_dasgupta",)


def formulation_of(given: str | Formulation) -> Formulation:
    """Return the formulation with a given name; a `Formulation` is returned unchanged.

    Raises:
        InvalidInput: the name is unknown; the message lists the known ones.
    """
    if isinstance(given, Formulation):
        return given
    check_choice("formulation", given, FORMULATIONS)
    return FORMULATIONS[given]
