# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
