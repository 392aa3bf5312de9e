/* @MECHANISM@, exported by robodyn @VERSION@: SI units, radians, base frame z up.

@COORDINATES@ */

/** Error of a call that has failed; `status` is the status code of the C library. */
export class MechanismError extends Error {
  readonly status: number;
}

/** Instance of the module; methods throw MechanismError and TypeError. Matrices are by rows. */
export class Mechanism {
  /** Status of the last call: 0, or @LIMITED@ if efforts were reduced to the actuators' limits. */
  readonly status: number;
  readonly jointNames: string[];
  readonly jointUnits: string[];
  readonly home: number[];
  /** Lower and upper position limit [rad or m] of each driven joint. */
  readonly positionLimits: [number, number][];
  readonly velocityLimits: number[];
  readonly effortLimits: number[];

@METHODS@
}

/** Load the module from a URL, by default @NAME@.wasm beside this file, or from its bytes. */
export function load(source?: URL | string | BufferSource): Promise<Mechanism>;
