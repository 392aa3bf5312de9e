# SPDX-License-Identifier: Apache-2.0

"""Presentation of mechanisms: drawings, tables of parameters, and variables that users set."""

from robodyn.presentation import presentation
from robodyn.presentation.figure import Figure, Shape, stick
from robodyn.presentation.figure_of_links import figure_of_links
from robodyn.presentation.nouns import Nouns, nouns_of

__all__ = ["Figure", "Nouns", "Shape", "figure_of_links", "nouns_of", "presentation", "stick"]
