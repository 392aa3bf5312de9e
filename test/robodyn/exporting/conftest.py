# SPDX-License-Identifier: Apache-2.0

"""The export of a delta with springs, with all that there is, made once."""

import pytest
from node import HAS_WASM
from sprung import sprung

import robodyn as rd


@pytest.fixture(scope="session")
def delta(tmp_path_factory):
    """A delta with springs and its export: FMUs, CasADi's functions, WebAssembly if possible."""
    m = sprung("delta")
    folder = tmp_path_factory.mktemp("export") / m.name
    return m, rd.export(m, folder, fmu=True, wasm=HAS_WASM, casadi=True)
