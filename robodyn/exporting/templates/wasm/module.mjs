// The dynamics of @MECHANISM@ for web pages, Node and Deno, exported by robodyn @VERSION@:
//   import { load } from "./@NAME@.mjs";
//   const m = await load();
//   m.inverseDynamics(m.home, rest, rest);
// SI units, radians, base frame z up. @NAME@.d.ts states the shape and unit of each argument.

const FUNCTIONS = @FUNCTIONS@;
const DATA = @DATA@;
const STATUSES = @STATUSES@;
const LIMITED = @LIMITED@;

/** Error of a call that has failed; `status` is the status code of the C library. */
export class MechanismError extends Error {
  constructor(name, status) {
    super(`${name}: ${STATUSES[status] ?? status}`);
    this.status = status;
  }
}

/** Instance of the module; it must not be used by two threads at once. */
export class Mechanism {
  #calls;
  #memory;
  #start;
  /** Status of the last call: 0, or @LIMITED@ if efforts were reduced to the actuators' limits. */
  status = 0;

  constructor(instance) {
    this.#calls = instance.exports;
    this.#memory = instance.exports.memory;
    this.#start = this.#memory.buffer.byteLength;
    this.#memory.grow(1);
    Object.assign(this, DATA);
  }

  _call(name, listed, given) {
    const numbers = new Float64Array(this.#memory.buffer, this.#start, 8192);
    const passed = [], results = [];
    let at = 0, next = 0;
    for (const [key, size, use] of listed) {
      const isResult = use === "out" || use === "number";
      const value = isResult ? null : given[next++];
      if (use === "double" || use === "int") {
        passed.push(Number(value));
        continue;
      }
      if (use === "maybe" && value == null) {
        passed.push(0);
        continue;
      }
      if (!isResult) {
        if (value?.length !== size) throw new TypeError(`${name}: ${key} needs ${size} numbers`);
        numbers.set(value, at);
      }
      if (isResult || use === "inout") results.push([key, use, at, size]);
      passed.push(this.#start + 8 * at);
      at += size;
    }
    this.status = this.#calls["@NAME@_" + name](...passed);
    if (this.status && this.status !== LIMITED) throw new MechanismError(name, this.status);
    const found = results.map(([key, use, from, size]) =>
      [key, use === "number" ? numbers[from] : numbers.slice(from, from + size)]);
    return found.length === 1 ? found[0][1] : Object.fromEntries(found);
  }
}

const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
for (const [name, listed] of Object.entries(FUNCTIONS)) {
  Mechanism.prototype[camel(name)] = function (...given) {
    return this._call(name, listed, given);
  };
}

/** Load the module from a URL, by default @NAME@.wasm beside this file, or from its bytes. */
export async function load(source = new URL("./@NAME@.wasm", import.meta.url)) {
  let bytes = source;
  if (source instanceof URL || typeof source === "string") {
    const url = new URL(source, import.meta.url);
    bytes = url.protocol === "file:" && typeof process === "object"
      ? await (await import("node:fs/promises")).readFile(url)
      : await (await fetch(url)).arrayBuffer();
  }
  let memory;
  const env = {
    sin: Math.sin,
    cos: Math.cos,
    atan2: Math.atan2,
    __multi3(to, low, high, otherLow, otherHigh) {
      const whole = (first, second) => BigInt.asUintN(64, first) | (second << 64n);
      const product = whole(low, high) * whole(otherLow, otherHigh);
      const view = new DataView(memory.buffer, to, 16);
      view.setBigUint64(0, BigInt.asUintN(64, product), true);
      view.setBigUint64(8, BigInt.asUintN(64, product >> 64n), true);
    },
  };
  const { instance } = await WebAssembly.instantiate(bytes, { env });
  memory = instance.exports.memory;
  return new Mechanism(instance);
}
