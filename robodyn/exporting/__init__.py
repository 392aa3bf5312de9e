# SPDX-License-Identifier: Apache-2.0

"""Export of a mechanism's kernels as a C library without Python, and packages around it.

`functions` declares the library's functions and composes them from a kind's `Answers`, which
`stewart`, `serial` and `closed_loop` provide. `machine_code` compiles them to an object file;
`export` writes the folder.
"""

from robodyn.exporting.answers import Answers, answers_of, joint_answers, one_side, step_of

__all__ = ["Answers", "answers_of", "joint_answers", "one_side", "step_of"]
