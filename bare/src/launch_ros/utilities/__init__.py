"""Names and parameters of nodes, normalized and evaluated with upstream's meaning."""

from .names import make_namespace_absolute, prefix_namespace
from .parameters import evaluate_parameter_dict, normalize_parameter_dict

__all__ = [
    "evaluate_parameter_dict",
    "make_namespace_absolute",
    "normalize_parameter_dict",
    "prefix_namespace",
]
