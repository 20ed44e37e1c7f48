/** The world that what runs in this process is in; there is at most one. */
import { OutsideOfTheWorldError, type SimWorld } from './world.js';

let world: SimWorld | undefined;

/** Makes it the world of this process, until the result is called. */
export function enter(entered: SimWorld): () => void {
  if (world) throw new Error('there is a world already');
  world = entered;
  return () => {
    world = undefined;
  };
}

/** Undefined: everything is the machine's now. */
export function worldNow(): SimWorld | undefined {
  return world;
}

/** The world that there is. Throws where there is none. */
export function theWorld(): SimWorld {
  if (!world) throw new Error('there is no simulated world in this process now');
  return world;
}

/**
 * Throws, and ends the run whatever becomes of that: a lock that catches it would be judged as one that grants nobody anything.
 * `what`: as in "the simulated world does not have ...".
 */
export function refuse(what: string): never {
  const error = notThere(what);
  world?.refuse(error);
  throw error;
}

/** `what`: as in "the simulated world does not have ...". */
export function notThere(what: string): OutsideOfTheWorldError {
  return new OutsideOfTheWorldError(`the simulated world does not have ${what}, which this lock wants`, what);
}

/** To be called, or constructed, in place of what would be outside of the world. */
export function refusing(what: string): () => never {
  return function refused() {
    return refuse(what);
  };
}
