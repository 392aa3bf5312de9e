# SPDX-License-Identifier: Apache-2.0

"""`python -m robodyn`: the command `robodyn` where it is not on the PATH."""

from robodyn.cli import main

if __name__ == "__main__":
    main()
