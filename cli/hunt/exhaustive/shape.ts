/**
 * What of a course can be told apart: in which order servers ran whose commands, and in which order holds began and ended, with what
 * outcome. Not when, and not what was drawn. Courses that are one by the reduction have one shape.
 */
import { createHash } from 'node:crypto';
import type { CheckInput } from '../../../harness/vocabulary/run.js';
import type { ScheduleResult } from '../schedule.js';
import { fingerprintOf } from '../schedule.js';

export function shapeOf({ history, observations }: CheckInput, { found }: Pick<ScheduleResult, 'found'>): string {
  const seen: string[] = [];
  for (const event of history.all()) {
    if (event.type === 'phase' && event.phase === 'heal') break;
    if (event.type === 'invoke' && event.op === 'release') seen.push(`${event.client} lets go`);
    else if (event.type === 'ok' || event.type === 'fail' || event.type === 'info')
      seen.push(`${event.client} ${event.op} ${event.type}`);
  }
  const ran: string[] = [];
  for (const [, { client, source, argv }] of observations.commands(0, history.endNs))
    ran.push(`${source === 'lua' ? 'script' : client} ${argv[0]!.toLowerCase()}`);
  const blamed = [...new Set(found.map(fingerprintOf))].sort();
  return createHash('sha256')
    .update(JSON.stringify([seen, ran, blamed]))
    .digest('hex')
    .slice(0, 16);
}
