# SPDX-License-Identifier: Apache-2.0

"""Functions of an exported WebAssembly module, called in Node through its JavaScript wrapper."""

import json
import shutil
import subprocess
from importlib.util import find_spec

import numpy as np

HAS_WASM = bool(shutil.which("node") and (shutil.which("wasm-ld") or find_spec("ziglang")))
MAIN = """
import { readFileSync, writeSync } from "node:fs";
import { load } from "./NAME.mjs";
const m = await load();
for (const [name, given] of JSON.parse(readFileSync(0))) {
  const found = m[name](...given);
  const parts = typeof found === "number" ? [[found]]
    : ArrayBuffer.isView(found) ? [found] : Object.values(found);
  for (const part of parts) writeSync(1, new Uint8Array(Float64Array.from(part).buffer));
}
"""


def call_in_node(exported, calls):
    """All numbers that calls (name, inputs) give, one after the other; inputs may be None."""
    script = exported.folder / "calls.mjs"
    script.write_text(MAIN.replace("NAME", exported.name))
    listed = [
        (name, [None if one is None else np.asarray(one).tolist() for one in given])
        for name, given in calls
    ]
    done = subprocess.run(
        ["node", str(script)], input=json.dumps(listed).encode(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return np.frombuffer(done.stdout)
