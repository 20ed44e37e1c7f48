/** Every fault that a plan can name. */
import type { NemesisFault } from '../striking/context.js';
import { amnesia } from './amnesia.js';
import { clock } from './clock.js';
import { clusterFailover } from './cluster-failover.js';
import { delay } from './delay.js';
import { drift } from './drift.js';
import { duplicate } from './duplicate.js';
import { evict } from './evict.js';
import { failover } from './failover.js';
import { failoverTo } from './failover-to.js';
import { forgetGranted } from './forget-granted.js';
import { gc } from './gc.js';
import { kill } from './kill.js';
import { lag } from './lag.js';
import { loss } from './loss.js';
import { lostReply } from './lost-reply.js';
import { migrateSlots } from './migrate-slots.js';
import { moveSlot } from './move-slot.js';
import { partition } from './partition.js';
import { pause } from './pause.js';
import { powerCut } from './power-cut.js';
import { preempt } from './preempt.js';
import { priorities } from './priorities.js';
import { rate } from './rate.js';
import { reload } from './reload.js';
import { reorder } from './reorder.js';
import { reset } from './reset.js';
import { resetOnReply } from './reset-on-reply.js';
import { sentinelFailover } from './sentinel-failover.js';
import { skewGranted } from './skew-granted.js';
import { slow } from './slow.js';
import { slowDisk } from './slow-disk.js';
import { strobe } from './strobe.js';

export const faults: Readonly<Record<string, NemesisFault>> = {
  kill,
  reload,
  amnesia,
  'power-cut': powerCut,
  pause,
  gc,
  priorities,
  preempt,
  slow,
  'slow-disk': slowDisk,
  partition,
  'lost-reply': lostReply,
  delay,
  loss,
  rate,
  duplicate,
  reorder,
  reset,
  'reset-on-reply': resetOnReply,
  clock,
  drift,
  strobe,
  lag,
  failover,
  'failover-to': failoverTo,
  'sentinel-failover': sentinelFailover,
  'cluster-failover': clusterFailover,
  'move-slot': moveSlot,
  'migrate-slots': migrateSlots,
  'forget-granted': forgetGranted,
  'skew-granted': skewGranted,
  evict,
};
