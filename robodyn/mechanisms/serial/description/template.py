# SPDX-License-Identifier: Apache-2.0

"""A commented model file of a six-joint arm to start from."""

from __future__ import annotations

from robodyn.mechanisms.common.template import Template, text_of


def arm_template(name: str = "my_arm", *, file: str = "my_arm.yaml") -> str:
    """Commented YAML text of a small six-joint arm; `load` reads it unchanged."""
    return text_of("arm.yaml").format(name=name, file=file)


TEMPLATE = Template("arm", arm_template)
