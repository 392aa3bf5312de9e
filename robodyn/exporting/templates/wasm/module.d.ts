/* @MECHANISM@, exported by robodyn @VERSION@: SI units, radians, base frame z up.

@COORDINATES@ */

/** A call without a result; `status` is the number that the C library returns. */
export class MechanismError extends Error {
  readonly status: number;
}

/** An instance of the module; methods throw MechanismError and TypeError. Matrices are by rows. */
export class Mechanism {
  /** Of the last call: 0, or @LIMITED@ where efforts were cut to what the actuators have. */
  readonly status: number;
  readonly jointNames: string[];
  readonly jointUnits: string[];
  readonly home: number[];
  /** Lower and upper [rad or m], of each driven joint. */
  readonly positionLimits: [number, number][];
  readonly velocityLimits: number[];
  readonly effortLimits: number[];

@METHODS@
}

/** The module from its address, @NAME@.wasm beside this file by default, or from its bytes. */
export function load(source?: URL | string | BufferSource): Promise<Mechanism>;
