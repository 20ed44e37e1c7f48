/** Every fault that a plan can name. */
import type { NemesisFault } from '../striking/context.js';
import { amnesia } from './amnesia.js';
import { clock } from './clock.js';
import { drift } from './drift.js';
import { evict } from './evict.js';
import { failover } from './failover.js';
import { forgetGranted } from './forget-granted.js';
import { kill } from './kill.js';
import { lag } from './lag.js';
import { lostReply } from './lost-reply.js';
import { partition } from './partition.js';
import { pause } from './pause.js';
import { reload } from './reload.js';
import { skewGranted } from './skew-granted.js';
import { slow } from './slow.js';
import { strobe } from './strobe.js';

export const faults: Readonly<Record<string, NemesisFault>> = {
  kill,
  reload,
  amnesia,
  pause,
  slow,
  partition,
  'lost-reply': lostReply,
  clock,
  drift,
  strobe,
  lag,
  failover,
  'forget-granted': forgetGranted,
  'skew-granted': skewGranted,
  evict,
};
