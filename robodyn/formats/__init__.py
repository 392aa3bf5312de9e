# SPDX-License-Identifier: Apache-2.0

"""File formats, independent of mechanisms: YAML, URDF, xacro, XML, CSV, bags, meshes."""

from robodyn.formats.bags import read_bag
from robodyn.formats.csv_text import read_columns, write_columns
from robodyn.formats.documents import Fields, read_yaml
from robodyn.formats.inertia import unphysical
from robodyn.formats.output_file import atomic_write, write_text
from robodyn.formats.received_text import received_description
from robodyn.formats.ros_packages import package_folders
from robodyn.formats.xacro_text import expand_xacro
from robodyn.formats.xml_text import parse_xml, root_tag

__all__ = [
    "Fields", "atomic_write", "expand_xacro", "package_folders", "parse_xml", "read_bag",
    "read_columns", "read_yaml", "received_description", "root_tag", "unphysical",
    "write_columns", "write_text",
]  # fmt: skip
