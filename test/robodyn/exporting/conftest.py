# SPDX-License-Identifier: Apache-2.0

"""Exports made once: a delta with springs and all that there is, or elastic drives; an arm."""

import pytest
from node import HAS_WASM
from sprung import elastic, sprung

import robodyn as rd


@pytest.fixture(scope="session")
def delta(tmp_path_factory):
    """A delta with springs and its export: FMUs, CasADi's functions, WebAssembly if possible."""
    m = sprung("delta")
    folder = tmp_path_factory.mktemp("export") / m.name
    return m, rd.export(m, folder, fmu=True, wasm=HAS_WASM, casadi=True)


@pytest.fixture(scope="session")
def elastic_delta(tmp_path_factory):
    """A delta with springs and elastic drives, and its export with FMUs."""
    m = elastic(sprung("delta"))
    return m, rd.export(m, tmp_path_factory.mktemp("elastic") / m.name, fmu=True)


@pytest.fixture(scope="session")
def puma560(tmp_path_factory):
    """An arm with friction and its export."""
    m = rd.load("puma560")
    return m, rd.export(m, tmp_path_factory.mktemp("arm") / m.name, casadi=True)
