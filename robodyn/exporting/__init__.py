# SPDX-License-Identifier: Apache-2.0

"""Export of a mechanism without Python: its kernels as a C library, and packages around it.

`functions` declares the library's functions and composes them from a kind's `Answers`, which
`tree`, `serial` and `stewart` provide; another kind registers its own with
`answers_of.register`. `machine_code` makes an object of it, `export` the folder.
"""

from robodyn.exporting.answers import Answers, answers_of, joint_answers, step_of

__all__ = ["Answers", "answers_of", "joint_answers", "step_of"]
