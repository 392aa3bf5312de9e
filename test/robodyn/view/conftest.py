# SPDX-License-Identifier: Apache-2.0

"""Fixtures of the live view's tests: mechanisms, and pages that are closed again."""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import pytest

import robodyn as rd

if find_spec("viser") is None:
    # the page needs the extra `view`; what it shows is tested without
    collect_ignore_glob = [
        "test_view_page.py",
        "test_view_browser.py",
        "test_view_cli.py",
        "test_view_design.py",
    ]


@pytest.fixture(scope="session")
def load():
    """Load a model without the warnings that loading the papers' tensors gives."""

    def load_model(source):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rd.errors.UnphysicalInertiaWarning)
            return rd.load(source)

    return load_model


@pytest.fixture(scope="session")
def dasgupta(load):
    return load("stewart_dasgupta")


@pytest.fixture
def studio(load):
    """Open a page: studio(model, path) gives the simulation, the page and the port."""
    from robodyn.view import LiveSimulation, figure_of, open_studio, paths_of, serve, stop

    opened = []

    def open_page(model="stewart_dasgupta", path="I", **options):
        mechanism = load(model)
        live = LiveSimulation(mechanism, paths_of(mechanism, path), **options)
        server = serve(0)
        opened.append((live, server))
        page, controls = open_studio(server, live, figure_of(model, mechanism))
        opened[-1] = (live, server, page)
        return live, page, controls, server.get_port()

    yield open_page
    for live, server, *page in opened:
        live.close()
        for each in page:
            each.close()
        stop(server)
