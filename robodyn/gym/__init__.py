# SPDX-License-Identifier: Apache-2.0

"""Vectorized Gymnasium environments for any mechanism, with built-in or custom tasks.

Importing this package registers `robodyn/Reach-v0` and `robodyn/Track-v0`:

```python
import gymnasium
import robodyn.gym

envs = gymnasium.make_vec("robodyn/Reach-v0", num_envs=64, model="delta")
```
"""

from __future__ import annotations

from robodyn.extras import require_extra

with require_extra("gym", "an environment for reinforcement learning", "gymnasium"):
    import gymnasium

from robodyn.gym.environment import TASKS as TASKS
from robodyn.gym.environment import MechanismEnv as MechanismEnv
from robodyn.gym.environment import MechanismVectorEnv as MechanismVectorEnv
from robodyn.gym.environment import Task as Task
from robodyn.gym.path_tasks import Reach as Reach
from robodyn.gym.path_tasks import Track as Track

for name in TASKS:
    gymnasium.register(
        f"robodyn/{name.capitalize()}-v0",
        entry_point="robodyn.gym:MechanismEnv",
        vector_entry_point="robodyn.gym:MechanismVectorEnv",
        kwargs={"task": name},
    )
