# SPDX-License-Identifier: Apache-2.0

"""Tables of numbers as text, in the CSV dialects of common programs.

Separators are commas, semicolons, tabs, vertical bars or blanks. Decimals have a point, or a comma
if that is not the separator. The header, which names the columns, is the first line or the last
comment before the numbers. Units are in brackets after the names, or in a separate line below the
header.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import number_in
from robodyn.errors import InvalidInput
from robodyn.formats.output_file import atomic_write
from robodyn.formats.regular_files import read_bytes

# Separators in the order of trial; blanks separate only if nothing else does.
SEPARATORS = (",", ";", "\t", "|")
BLANKS = " "
COMMENTS = ("#", "%")
# Number of data rows that determine the separator.
TRIED = 20
# Spreadsheets evaluate a cell that starts with one of these.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
_UNIT = re.compile(r"\s*[\[(]\s*(?!\d+\s*[\])])([^\[\]()]*)[\])]\s*$")
_DECIMAL_COMMA = re.compile(r"^\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*$")
_UNIT_WORD = re.compile(r"^[\[(]?[a-zA-Zµ°%·^*/ .\d-]{0,12}[\])]?$")


class Columns(NamedTuple):
    """Table of numbers read from a CSV file, with names and units of its columns.

    Attributes:
        names: names of the columns, without units.
        numbers: (N, columns) values; empty cells and `nan` are NaN.
        line: line number of the header.
        units: units of the columns; empty if the file states no units.
        lines: (N,) line numbers of the rows.
    """

    names: list[str]
    numbers: FloatArray
    line: int
    units: list[str]
    lines: list[int]


class _Line(NamedTuple):
    number: int
    text: str


def read_columns(path: Path) -> Columns:
    """Read a table of numbers with a header from a CSV file.

    Returns:
        The columns with their names, units and line numbers.

    Raises:
        InvalidInput: the file cannot be read, is empty, has no header, or has two columns of the
            same name or cells that are not numbers; the error states the line.
    """
    comments: list[_Line] = []
    lines: list[_Line] = []
    given = ""
    for line in map(_Line._make, enumerate(_text(path).splitlines(), start=1)):
        bare = line.text.strip()
        if bare.startswith(COMMENTS):
            comments += [] if lines else [_Line(line.number, bare.lstrip("".join(COMMENTS)))]
        elif not lines and bare.lower().startswith("sep=") and len(bare) == len("sep=") + 1:
            given = bare[-1]
        elif bare:
            lines.append(line)
    if not lines:
        raise InvalidInput(f"{path}: the file is empty", value=str(path))
    separator = given or _separator(path, lines)
    if _is_numeric(_cells(path, lines[0], separator)):
        header = _commented_header(path, comments, lines[0], separator)
    else:
        header, lines = lines[0], lines[1:]
    names = [cell.strip().removeprefix("'") for cell in _cells(path, header, separator)]
    for name in filter(None, names):
        if names.count(name) > 1:
            raise InvalidInput(
                f"{path}: line {header.number}: {names.count(name)} columns are named {name!r}, "
                "expected one; rename or remove the others",
                value=name,
            )
    units = [match[1].strip() if (match := _UNIT.search(name)) else "" for name in names]
    names = [_UNIT.sub("", name).strip() for name in names]
    rows = [_row(path, line, separator, names) for line in lines]
    if rows and _is_of_units(rows[0]):
        units = [unit or cell.strip(" []()") for unit, cell in zip(units, rows[0], strict=True)]
        rows, lines = rows[1:], lines[1:]
    numbers = _numbers(path, names, rows, lines)
    # a separator at the end of each line adds a column without a name
    kept = [k for k, name in enumerate(names) if name or np.isfinite(numbers[:, k]).any()]
    return Columns(
        [names[k] for k in kept],
        numbers[:, kept],
        header.number,
        [units[k] for k in kept],
        [line.number for line in lines],
    )


def write_columns(path: str | Path, columns: Iterable[tuple[str, FloatArray]]) -> None:
    """Write columns of numbers to a CSV file without rounding.

    A heading that a spreadsheet would evaluate as a formula is preceded by a `'`.

    Args:
        path: file to write.
        columns: heading and values (N,) of each column.

    Raises:
        OutputError: the file cannot be written.
    """
    names, values = zip(*columns, strict=True)
    with atomic_write(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([_heading(name) for name in names])
        writer.writerows(np.column_stack(values).tolist())


def _heading(name: str) -> str:
    # on one line, like the rows
    text = " ".join(name.split("\n"))
    return f"'{text}" if text.startswith(FORMULA) else text


def _text(path: Path) -> str:
    raw = read_bytes(path)
    encoding = "utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        # such as a degree sign of an older program; only names and units have such characters
        text = raw.decode("latin-1")
    if "\0" in text:
        raise InvalidInput(f"{path}: expected a table of numbers as text", value=str(path))
    return text


def _separator(path: Path, lines: Sequence[_Line]) -> str:
    """Return the separator that splits the first lines into the most cells.

    Each of these lines must have the same number of cells.
    """
    best, most = "", 1
    for each in SEPARATORS:
        try:
            counts = [len(_cells(path, line, each)) for line in lines[: TRIED + 1]]
        except InvalidInput:
            continue
        # a line may end in a separator; the last one may be truncated
        if min(counts[1:-1] or counts) >= counts[0] and max(counts) <= counts[0] + 1:
            best, most = (each, counts[0]) if counts[0] > most else (best, most)
    if best:
        return best
    plain = {each: lines[0].text.count(each) for each in SEPARATORS}
    likely = max(plain, key=lambda each: plain[each])
    return likely if plain[likely] else BLANKS


def _cells(path: Path, line: _Line, separator: str) -> list[str]:
    # each line alone: an unclosed quote would swallow the next lines
    text = " ".join(line.text.split()) if separator == BLANKS else line.text
    try:
        return next(csv.reader([text], delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error as failure:
        raise InvalidInput(f"{path}: line {line.number}: {failure}", value=line.number) from failure


def _row(path: Path, line: _Line, separator: str, names: Sequence[str]) -> list[str]:
    row = _cells(path, line, separator)
    if len(row) == len(names) + 1 and not row[-1].strip():
        row = row[:-1]
    if len(row) != len(names):
        hint = ""
        if separator == "," and len(row) > len(names):
            hint = "; if the decimal separator is a comma, separate the cells by semicolons or tabs"
        raise InvalidInput(
            f"{path}: line {line.number} has {len(row)} cells, the header has {len(names)}{hint}",
            value=row,
        )
    return row


def _commented_header(path: Path, comments: Sequence[_Line], first: _Line, separator: str) -> _Line:
    """Return the last comment with as many cells as the first row of numbers.

    numpy.savetxt writes the header as a comment.
    """
    count = len(_cells(path, first, separator))
    for line in reversed(comments):
        if len(_cells(path, line, separator)) == count:
            return line
    raise InvalidInput(
        f"{path}: line {first.number} contains numbers: expected a header before it that names "
        f"the {count} columns",
        value=first.number,
    )


def _is_numeric(cells: Sequence[str]) -> bool:
    found = [number_in(cell.strip().replace(",", ".")) for cell in cells if cell.strip()]
    return bool(found) and bool(np.isfinite(found).all())


def _is_of_units(row: Sequence[str]) -> bool:
    """Return whether a row contains units: short words and no numbers."""
    words = [cell for cell in row if cell.strip()]
    return bool(words) and all(
        _UNIT_WORD.match(cell.strip())
        and not _is_missing(cell)
        and np.isnan(number_in(cell.replace(",", ".")))
        for cell in words
    )


def _numbers(
    path: Path, names: Sequence[str], rows: Sequence[Sequence[str]], lines: Sequence[_Line]
) -> FloatArray:
    numbers = np.empty((len(rows), len(names)))
    doubtful = []
    for values, line, row in zip(numbers, lines, rows, strict=True):
        values[:] = [number_in(cell or "nan") for cell in row]
        unread = [
            (line, column)
            for column in np.flatnonzero(np.isnan(values)).tolist()
            if not _is_missing(row[column])
        ]
        doubtful += [(values, row, *place) for place in unread]
    # if other numbers have a point, a comma may separate thousands
    points = bool(doubtful) and any("." in cell for row in rows for cell in row)
    for values, row, line, column in doubtful:
        cell = row[column]
        if points or not _DECIMAL_COMMA.match(cell):
            hint = "; the decimal separator must be a point, or always a comma" * ("," in cell)
            raise InvalidInput(
                f"{path}: line {line.number}, column {names[column]!r}: {cell[:60]!r} is not a "
                f"number{hint}",
                value=cell,
            )
        values[column] = number_in(cell.replace(",", "."))
    return numbers


def _is_missing(cell: str) -> bool:
    return cell.strip().lower().lstrip("+-") in ("", "nan", "null", "none", "n/a", "na")
