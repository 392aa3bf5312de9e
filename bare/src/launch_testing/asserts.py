# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
