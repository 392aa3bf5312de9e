# SPDX-License-Identifier: Apache-2.0

"""Export of a mechanism's dynamics as a C library without Python, and packages around it.

`functions` declares the library's functions and composes them from `KindFunctions`, which
`stewart`, `serial` and `tree` provide for each kind of mechanism. `machine_code` compiles them to
an object file; `export` writes the folder.
"""

from robodyn.exporting.escaping import c_string, fmi_name, in_comment, xml_text, yaml_string
from robodyn.exporting.export import ExportResult, library_texts
from robodyn.exporting.fmu import (
    controller_variables,
    model_description,
    plant_variables,
    write_fmus,
)
from robodyn.exporting.functions import FUNCTIONS, functions_of, library_functions
from robodyn.exporting.kind_functions import (
    KindFunctions,
    equation_functions,
    kind_functions_of,
    position_functions,
    step_of,
)
from robodyn.exporting.linking import link
from robodyn.exporting.machine_code import TARGETS, Target, llvm_of, object_of, target_of
from robodyn.exporting.ros2_control import package_texts
from robodyn.exporting.texts import c_name, header
from robodyn.exporting.wasm import data_of, format_object

__all__ = [
    "FUNCTIONS",
    "TARGETS",
    "ExportResult",
    "KindFunctions",
    "Target",
    "c_name",
    "c_string",
    "controller_variables",
    "data_of",
    "equation_functions",
    "fmi_name",
    "format_object",
    "functions_of",
    "header",
    "in_comment",
    "kind_functions_of",
    "library_functions",
    "library_texts",
    "link",
    "llvm_of",
    "model_description",
    "object_of",
    "package_texts",
    "plant_variables",
    "position_functions",
    "step_of",
    "target_of",
    "write_fmus",
    "xml_text",
    "yaml_string",
]  # fmt: skip
