# SPDX-License-Identifier: Apache-2.0

"""A renderer of equations for Sphinx: pictures that need no network and look alike everywhere.

Browsers draw MathML as well, but without a mathematical font on the reader's machine they put the
dots of derivatives into the letters.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import tostring

import ziamath
from docutils.nodes import SkipNode

if TYPE_CHECKING:
    from docutils.nodes import Element
    from sphinx.application import Sphinx

SIZE = 18.0  # [px], as wide as the text about it


def _drawn(tex: str, inline: bool) -> str:
    """SVG in the color of the text, with the equation for those who cannot see it."""
    drawing = ziamath.Latex(tex, size=SIZE, color="currentColor", inline=inline).svgxml()
    _, top, _, height = map(float, drawing.attrib["viewBox"].split())
    drawing.set("role", "img")
    drawing.set("aria-label", tex)
    drawing.set("style", f"vertical-align: {-(top + height):.2f}px; overflow: visible")
    return tostring(drawing, encoding="unicode")


def _inline(translator: Any, node: Element) -> None:
    translator.body.append(_drawn(node.astext(), True))
    raise SkipNode


def _block(translator: Any, node: Element) -> None:
    text = node.astext().strip()
    if "\\\\" in text and "\\begin" not in text:
        text = r"\begin{aligned}" + text + r"\end{aligned}"
    label = escape(" ".join(text.split()))
    translator.body.append(
        f'<div class="math" title="{label}" style="overflow-x: auto; text-align: center; '
        f'margin: 1em 0">{_drawn(text, False)}</div>'
    )
    raise SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    # identifiers of shared glyphs would clash between the equations of a page
    ziamath.config.svg2 = False
    app.add_html_math_renderer("svg", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
