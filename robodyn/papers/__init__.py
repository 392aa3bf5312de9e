# SPDX-License-Identifier: Apache-2.0

"""Figures and statements of published papers, compared with computed results."""

from robodyn.papers.puma import BOUND, puma_page
from robodyn.papers.stewart_page import paper_page

__all__ = ["BOUND", "paper_page", "puma_page"]
