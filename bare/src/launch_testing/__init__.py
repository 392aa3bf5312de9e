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

"""What launch tests are made of: a launch description, tests while it runs, tests after it.

A module with a function `generate_test_description`, marked `pytest.mark.launch_test`, that
returns a LaunchDescription with a `ReadyToTest` in it (and perhaps a dictionary of arguments for
the tests). Its `unittest.TestCase` classes run while the processes do, those decorated with
`post_shutdown_test` when all have ended. Test methods take by name what they need of
`proc_output`, `proc_info` and `launch_service`.
"""

from .decorator import post_shutdown_test

__all__ = ["post_shutdown_test"]
