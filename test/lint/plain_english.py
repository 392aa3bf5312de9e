# SPDX-License-Identifier: Apache-2.0

"""Check docstrings, comments and docs for words that do not belong to technical English.

    python test/lint/plain_english.py

Reports docstrings that begin with a relative clause, functions whose docstring does not begin with
a verb, verbs of speech or of wishing that stand for data flow, and names of variables, arguments,
attributes, functions and classes that are such words. `plain_english_exceptions.txt`
lists the files that are not checked; a file without findings must not be listed.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXCEPTIONS = HERE / "plain_english_exceptions.txt"
SOURCES = ("robodyn/**/*.py", "robodyn_ros/**/*.py", "launch/*.py")
SCRIPTS = ("test/**/*.py", "benchmarks/*.py", "docs/*.py", "examples/*.py")
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md")
RELATIVE = re.compile(
    r"(What|Who|Whose|Which|Where|How|Whoever|Whatever|That which|The same|"
    r"(Of|By|With|To|From|In) (what|which|whom))\b"
)
NO_VERB = re.compile(r"(The|A|An|Its|All|Both|Each|Every|Whether|See)\b|\(")
BANNED = re.compile(
    r"\b(tells?|told|hears?|heard|wish(es|ed)?|heeds?|lends?|lent|wants?|unasked)\b", re.IGNORECASE
)
# Further words that are banned from docstrings and comments.
BANNED_IN_SOURCES = re.compile(
    BANNED.pattern + r"|\b(wanted|asks?|asked|says?|said|whoever|whatever|somebody|nobody|anybody|"
    r"anew|notices|noticed|goes on)\b",
    re.IGNORECASE,
)
# Names that are banned everywhere, and further ones that are banned from sources.
BANNED_NAMES = re.compile(
    r"_*(tells?|told|hears?|heard|wish(es|ed)?|wants?|wanted|heeds?|lends?|lent|said|shares?)_*",
    re.IGNORECASE,
)
BANNED_NAMES_IN_SOURCES = re.compile(
    rf"(?i:{BANNED_NAMES.pattern})|_*(says?|unsaid|unheeded|asked|answers?|answered|behind|"
    r"beyond|together|stays|rough|weighed|who|whom|whose)_*"
)
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
# Names of arguments and attributes in a docstring.
ENTRY = re.compile(r"^ *\*{0,2}\w+(, \*{0,2}\w+)*: ", re.MULTILINE)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstring_findings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and a description of each finding in the docstrings of a source."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, DOCUMENTED) or (text := ast.get_docstring(node)) is None:
            continue
        line = node.body[0].lineno
        if RELATIVE.match(text):
            yield line, f"begins with a relative clause: {text.splitlines()[0]}"
        if is_function(node) and NO_VERB.match(text):
            yield line, f"does not begin with a verb: {text.splitlines()[0]}"
        words = banned_words(ENTRY.sub("", text), BANNED_IN_SOURCES)
        yield from ((line + k, what) for k, what in words)


def is_function(node: ast.AST) -> bool:
    """Return whether a node is a function or method, but no property."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return not any("property" in ast.unparse(each) for each in node.decorator_list)


def comment_findings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and a description of each banned word in the comments of a source."""
    if not BANNED_IN_SOURCES.search(source):
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            words = banned_words(token.string, BANNED_IN_SOURCES)
            yield from ((token.start[0], what) for _, what in words)


def name_findings(source: str, banned: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and a description of each definition of a banned name in a source."""
    if not banned.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name | ast.Attribute) and not isinstance(node.ctx, ast.Store):
            continue
        for field in ("name", "arg", "id", "attr"):
            name = getattr(node, field, None)
            if isinstance(name, str) and banned.fullmatch(name):
                yield node.lineno, f"the name {name!r} is no term of the field"


def banned_words(text: str, banned: re.Pattern[str] = BANNED) -> Iterator[tuple[int, str]]:
    """Yield the line, counted from 0, and a description of each banned word outside of code."""
    plain = CODE.sub(lambda match: "\n" * match[0].count("\n"), text)
    for k, line in enumerate(plain.splitlines()):
        for match in banned.finditer(line):
            yield k, f"contains {match[0]!r}: {line.strip()}"


def main() -> int:
    """Print all findings outside of the exceptions; return the exit code."""
    lines = EXCEPTIONS.read_text(encoding="utf-8").splitlines()
    excepted = {line for line in lines if line and not line.startswith("#")}
    failed = False
    for pattern in (*SOURCES, *SCRIPTS, *PAGES):
        for file in sorted(ROOT.glob(pattern)):
            name = file.relative_to(ROOT).as_posix()
            text = file.read_text(encoding="utf-8")
            is_python = file.suffix == ".py"
            if pattern in SCRIPTS:
                found = list(name_findings(text, BANNED_NAMES))
            elif is_python:
                found = [*docstring_findings(text), *comment_findings(text)]
                found += name_findings(text, BANNED_NAMES_IN_SOURCES)
            else:
                found = list(banned_words(text))
            if name in excepted:
                excepted.discard(name)
                if found:
                    continue
                print(f"{EXCEPTIONS.name}: {name} has no findings any more; remove it")
                failed = True
            for line, what in found:
                print(f"{name}:{line + (0 if is_python else 1)}: {what}")
                failed = True
    for name in sorted(excepted):
        print(f"{EXCEPTIONS.name}: there is no file {name}")
        failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
