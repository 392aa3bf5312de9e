# SPDX-License-Identifier: Apache-2.0

"""What identification found, as data for programs and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robodyn.identification.result import Identification, Validation


def summary(result: Identification, validations: Sequence[Validation] = ()) -> dict[str, Any]:
    """JSON-able: parameters, friction, filters, residuals, what was not seen, predictions."""
    own, joints = result.parameters, result.model.joint_names
    return {
        "model": result.model.name,
        "joints": list(joints),
        "parameters": [
            {"name": name, "value": value, "deviation": deviation, "given": given,
             "consistent": consistent}
            for name, value, deviation, given, consistent in zip(
                own.names, own.values.tolist(), own.deviations.tolist(), own.given.tolist(),
                own.consistent.tolist(), strict=True,
            )
        ],
        "bodies": {
            name: {"value": value, "given": given}
            for name, value, given in zip(
                result.columns.names, result.fitted.tolist(), result.columns.given.tolist(),
                strict=True,
            )
        },
        "friction": {
            joint: [
                {"term": item.term.name, "coefficient": item.coefficient,
                 "deviation": item.deviation}
                for item in terms
            ]
            for joint, terms in zip(result.columns.motors.names, result.friction, strict=True)
        },
        "filters": {"motion": float(result.filters.motion), "effort": float(result.filters.effort)},
        "condition": result.condition,
        "residual_deviation": result.sigma.tolist(),
        "missed": [{"parameter": name, "shown_by": hint} for name, hint in result.missed],
        "hidden": list(result.hidden),
        "notes": list(result.notes),
        "fit": [_validation(item) for item in result.fit],
        "validation": [_validation(item) for item in validations],
    }  # fmt: skip


def _validation(item: Validation) -> dict[str, Any]:
    return {
        "source": item.source,
        "rmse": item.rmse.tolist(),
        "relative": item.relative.tolist(),
        "rmse_unfiltered": item.rmse_unfiltered.tolist(),
        "relative_unfiltered": item.relative_unfiltered.tolist(),
        "relative_before": item.given.tolist(),
    }


def summary_text(found: dict[str, Any]) -> str:
    """A summary for people."""
    filters = found["filters"]
    lines = [
        f"{found['model']}: {len(found['parameters'])} base parameters, condition "
        f"{found['condition']:.3g}; filters {filters['motion']:.3g} Hz (positions), "
        f"{filters['effort']:.3g} Hz (efforts)",
    ]
    width = max(len(name) for name in found["joints"])
    for title in ("fit", "validation"):
        for item in found[title]:
            lines += ["", f"{title}: {item['source'] or 'recording'}, error of predicted effort "
                      "in parts of its standard deviation"]  # fmt: skip
            lines.append(f"  {'joint':{width}}  {'before':>8} {'now':>8} {'unfiltered':>10}")
            rows = zip(
                found["joints"], item["relative_before"], item["relative"],
                item["relative_unfiltered"], strict=True,
            )  # fmt: skip
            lines += [
                f"  {name:{width}}  {before:8.1%} {now:8.1%} {raw:10.1%}"
                if np.isfinite(now)
                else f"  {name:{width}}  {'stood still':>8}"
                for name, before, now, raw in rows
            ]
    lines += ["", "friction"]
    for joint, terms in found["friction"].items():
        parts = (f"{t['term']} {t['coefficient']:.3g} ± {t['deviation']:.2g}" for t in terms)
        lines.append(f"  {joint:{width}}  {', '.join(parts)}")
    if found["missed"]:
        lines += ["", "not shown by these recordings"]
        lines += [f"  {item['parameter']}: {item['shown_by']}" for item in found["missed"]]
    if found["notes"]:
        lines += ["", *found["notes"]]
    if found["written"]:
        lines += ["", f"written: {', '.join(found['written'])}"]
    return "\n".join(lines)
