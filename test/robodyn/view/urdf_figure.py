# SPDX-License-Identifier: Apache-2.0

"""Figure of the visuals of any URDF."""

from robodyn.parsing import parse_urdf
from robodyn.presentation import figure_of_links


def figure_from_urdf(text, source="URDF text", file=None):
    """The figure of links and joints; relative meshes are beside the file."""
    builder = parse_urdf(text, source)
    links, joints = builder.links.values(), builder.joints.values()
    return figure_of_links(list(links), list(joints), source, file)
