# SPDX-License-Identifier: Apache-2.0

"""Conversion of arms and platforms to `ClosedLoop`, which also supports passive joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robodyn.mechanism.kind import ReadOptions
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model import Model, ModelBuilder
from robodyn.model.zero_configuration import ZeroConfigurationTree
from robodyn.parsing.description import check_links
from robodyn.solvers.serial.description.urdf_chain import check_loops, longest_chains
from robodyn.solvers.tree.default_tip import with_default_tip
from robodyn.solvers.tree.loop import ClosedLoop


def from_underactuated_tree(builder: ModelBuilder, options: ReadOptions) -> ClosedLoop | None:
    """Create a `ClosedLoop` from an arm's URDF in which not all joints are driven.

    Args:
        builder: builder with the links and joints of the URDF.
        options: options of `load`.

    Returns:
        The closed loop; None if the options name a chain, if the URDF lists no drives, or if all
        joints between the root and the tip are driven.

    Raises:
        ModelError: two branches look like the halves of a loop without a closure, or the tree
            looks like an arm with a gripper.
    """
    driven = builder.actuated
    named = options.base_link or options.tip_link or options.hold_branches
    if named or not driven:
        return None
    model = builder.model()
    model = model if builder.tip_link else with_default_tip(model)
    tree = ZeroConfigurationTree(model)
    check_loops(tree, options.spelling)
    chains = longest_chains(tree, None, options.spelling)
    passive = {
        joint.name
        for path in chains.values()
        for joint in path
        if joint.moves and joint.mimic is None
    }
    if passive <= set(driven):
        return None
    return ClosedLoop(check_links(model, strict=options.strict))


def from_tree(mechanism: Mechanism, driven: Sequence[str] | None = None) -> ClosedLoop | None:
    """Convert an arm or a platform to a `ClosedLoop`.

    Args:
        mechanism: mechanism to convert.
        driven: names of the driven joints; None for those of the mechanism.

    Returns:
        The closed loop; None if the mechanism has no model of links and joints, or is a closed loop
        already.
    """
    model = mechanism.model
    if not isinstance(model, Model) or isinstance(mechanism, ClosedLoop):
        return None
    return ClosedLoop(model if driven is None else replace(model, driven=tuple(driven)))
