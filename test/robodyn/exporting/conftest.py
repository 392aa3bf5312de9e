# SPDX-License-Identifier: Apache-2.0

"""A delta's export with all that there is, made once."""

import pytest
from node import HAS_WASM

import robodyn as rd


@pytest.fixture(scope="session")
def delta(tmp_path_factory):
    """A delta and its export with FMUs, CasADi's functions and, if possible, WebAssembly."""
    m = rd.load("delta")
    folder = tmp_path_factory.mktemp("export") / m.name
    return m, rd.export(m, folder, fmu=True, wasm=HAS_WASM, casadi=True)
