# SPDX-License-Identifier: Apache-2.0

"""Escaping of names in generated files, so that a name cannot end a comment, string or element.

Each function is one-to-one: different names have different results.
"""

from __future__ import annotations

import re
from urllib.parse import quote

# No quote, bracket or backslash, and nothing that ends a comment in any language.
_HARMLESS = " _-.,:+=/()"
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# Characters of a quoted name in FMI's structured naming, besides letters and digits.
_QUOTABLE = "_!#$&()*+,-./:;<>=?@[]^{}|~ "
_FMI_ESCAPES = {"'": "\\'", '"': '\\"', "\\": "\\\\"}


def in_comment(text: str) -> str:
    """Escape text for a comment or a sentence of a generated file, in any language.

    Letters, digits and harmless punctuation are kept; other characters are percent-encoded.
    """
    return "".join(c if c.isalnum() or c in _HARMLESS else quote(c, safe="") for c in text)


def c_string(text: str) -> str:
    """Format text as a string literal of C and C++, encoded as UTF-8."""
    return '"' + "".join(_c_byte(byte) for byte in text.encode()) + '"'


def yaml_string(text: str) -> str:
    """Format text as a double-quoted YAML scalar."""
    return '"' + "".join(c if _is_plain(ord(c)) else f"\\U{ord(c):08x}" for c in text) + '"'


def fmi_name(text: str) -> str:
    """Format a name for FMI's structured naming.

    The result is quoted unless the name is a C identifier.
    """
    if _IDENTIFIER.fullmatch(text):
        return text
    return "'" + "".join(_fmi_character(c) for c in text) + "'"


def xml_text(text: str) -> str:
    """Percent-encode the characters in a text that XML does not permit."""
    return "".join(c if _is_xml(ord(c)) else quote(c, safe="", errors="replace") for c in text)


def _is_plain(code: int) -> bool:
    """Return whether a character code needs no escape between quotation marks."""
    return 0x20 <= code < 0x7F and chr(code) not in '"\\?'


def _c_byte(byte: int) -> str:
    # always three octal digits, as a digit may follow
    return chr(byte) if _is_plain(byte) else f"\\{byte:03o}"


def _fmi_character(c: str) -> str:
    if c in _FMI_ESCAPES:
        return _FMI_ESCAPES[c]
    is_allowed = c.isascii() and (c.isalnum() or c in _QUOTABLE)
    return c if is_allowed else quote(c, safe="")


def _is_xml(code: int) -> bool:
    if code < 0x20:
        return code in (0x9, 0xA, 0xD)
    return not 0xD800 <= code < 0xE000 and code not in (0xFFFE, 0xFFFF)
