"""What tests assert of processes that have ended."""

from __future__ import annotations

from collections.abc import Iterable

from .records import ProcessInfo, matches

EXIT_OK = 0


def assertExitCodes(  # noqa: N802
    proc_info: ProcessInfo,
    allowable_exit_codes: Iterable[int] = (EXIT_OK,),
    process: object = None,
) -> None:
    """Fail when a process, or any of all, ended with another exit code."""
    allowed = list(allowable_exit_codes)
    for exited in proc_info:
        if process is None or matches(process, exited):
            assert exited.returncode in allowed, (
                f"Proc {exited.process_name} exited with code {exited.returncode}"
            )
