/** The classes of findings: every list of them is made from this one. Which is graver, and what they are called, is in the order of it and in `facts/classes.ts`. */
import * as z from 'zod';
import type { ViolationClass } from '../../vocabulary/verdict.js';

/** Gravest first: harm is done to the resource for good, a stale holder need not have touched it. */
const MEANING: Record<ViolationClass, string> = {
  exclusion: 'two holds overlapped while both leases ran',
  harm: 'what the lock protects was damaged',
  stale: 'of two holds that overlapped one was past its lease',
  liveness: 'a lock could not be acquired again, or somebody waited in vain',
};

/** Every class, gravest first. */
export const CLASSES = Object.keys(MEANING) as readonly ViolationClass[];

export const violationClassSchema = z
  .enum(CLASSES)
  .describe(`${CLASSES.map((name) => `${name}: ${MEANING[name]}`).join('; ')}.`)
  .meta({ id: 'class' });
