/** Every fault that a plan can name. */
import type { NemesisFault } from '../context.js';
import { amnesia } from './amnesia.js';
import { clock } from './clock.js';
import { failover } from './failover.js';
import { forgetGranted } from './forget-granted.js';
import { kill } from './kill.js';
import { lag } from './lag.js';
import { partition } from './partition.js';
import { pause } from './pause.js';
import { skewGranted } from './skew-granted.js';

export const faults: Readonly<Record<string, NemesisFault>> = {
  kill,
  amnesia,
  pause,
  partition,
  clock,
  lag,
  failover,
  'forget-granted': forgetGranted,
  'skew-granted': skewGranted,
};
