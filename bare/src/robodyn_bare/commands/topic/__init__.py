"""`ros2 topic`."""

from __future__ import annotations

import argparse

from . import echo, hz, listing, pub


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs: echo, hz, list, pub."""
    verbs = parser.add_subparsers(title="Verbs", metavar="Verb")
    for name, text, module in (
        ("echo", "Output messages from a topic", echo),
        ("hz", "Print the average receiving rate to screen", hz),
        ("list", "Output a list of available topics", listing),
        ("pub", "Publish a message to a topic", pub),
    ):
        verb = verbs.add_parser(name, help=text)
        module.add_arguments(verb)
        verb.set_defaults(main=module.main)
