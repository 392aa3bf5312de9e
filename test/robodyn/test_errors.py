# SPDX-License-Identifier: Apache-2.0

"""Names of any length in messages: what a person reads is cut, the value is not."""

from __future__ import annotations

import robodyn as rd
from robodyn.errors import WORD, shorten


def test_a_long_name_is_cut_in_the_message_and_whole_in_the_value():
    name = "n" * 100_000
    error = rd.InvalidInput(f"no joint {name}, expected one of leg1, leg2", value=name)
    assert len(str(error)) < WORD + 100
    assert "expected one of leg1, leg2" in str(error)
    assert error.value == name


def test_text_of_usual_words_stays_as_it_is():
    text = f"line one\n{'/folder' * 40}/file.urdf\n" + "word " * 10_000
    assert shorten(text) == text


def test_a_line_of_a_log_has_no_control_characters_and_a_bound():
    line = shorten("a \x1b[31mred\x00 \ud800 name\n\nin\ttwo lines " + "x y " * 10_000, 300)
    assert len(line) == 300
    assert line.isprintable()
    assert "name in two lines" in line
