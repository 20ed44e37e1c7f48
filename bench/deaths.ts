/**
 * `npm run bench -- services --deaths 10`: how long nobody holds after the death of a leader whom a majority had chosen, beside when
 * the service says itself that it has a new one. What a lock adds to that must be no more than one pause between two tries and half a
 * second.
 *
 * Servers are asked every 50 ms whether they lead, so the new one leads since some moment between two answers: a grant may come before
 * the one in which it says so, and not before the other.
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { middle } from '../cli/docs/costs.js';
import { topologies } from '../harness/topologies/index.js';
import type { Observation } from '../harness/vocabulary/history.js';
import { comparedPlaces } from '../matrix/index.js';
import { newLeaderMs, withoutHolderMs } from './costs-of-runs.js';
import { print } from './print.js';
import { eventsIn, linesOf, runFor } from './runs-for-costs.js';

/** The longest pause of the locks between two tries, or two connections. */
const RETRY_MS = 50;
const SLACK_MS = 500;
const BY_MAJORITY = ['etcd', 'zookeeper'];

interface Death {
  notYetMs: number;
  saidMs: number;
  grantedMs: number;
}

/** Prints a line for each death, and the medians; the exit status is 1 where one is not within its bounds. */
export async function benchDeaths(times: number, locks: readonly string[] | undefined): Promise<void> {
  for (const place of comparedPlaces.filter(({ topology }) => BY_MAJORITY.includes(topologies[topology]!.service))) {
    if (locks && !locks.includes(place.lock)) continue;
    const deaths: Death[] = [];
    for (let n = 1; n <= times; n++) {
      const load = loadavg()[0]!.toFixed(1);
      const made = await runFor('withoutHolderMs', place, deathIn);
      if ('missing' in made) print(`  ${place.lock} ${n} of ${times}, load ${load}: ${made.missing}`);
      else {
        const { notYetMs, saidMs, grantedMs } = made.value;
        const said = `a new leader said so after ${saidMs.toFixed(0)} ms (and not after ${notYetMs.toFixed(0)})`;
        print(
          `  ${place.lock} ${n} of ${times}, load ${load}: ${said}, the first grant came after ${grantedMs.toFixed(0)} ms`,
        );
        deaths.push(made.value);
      }
    }
    if (!isWithin(place.lock, times, deaths)) process.exitCode = 1;
  }
}

function isWithin(lock: string, times: number, deaths: readonly Death[]): boolean {
  if (deaths.length === 0) {
    print(`${lock}: nothing was measured`);
    return false;
  }
  const median = (of: (death: Death) => number) => middle(deaths.map(of).sort((a, b) => a - b));
  const [fromMs, saidMs, grantedMs] = [median((d) => d.notYetMs), median((d) => d.saidMs), median((d) => d.grantedMs)];
  const untilMs = saidMs + RETRY_MS + SLACK_MS;
  const isGood = deaths.length === times && grantedMs >= fromMs && grantedMs <= untilMs;
  const bounds = `between ${fromMs.toFixed(0)} ms and ${untilMs.toFixed(0)} ms`;
  print(
    `${isGood ? 'yes' : 'no '} ${lock}: median of ${deaths.length}: ${grantedMs.toFixed(0)} ms without a holder; it must be ${bounds}\n`,
  );
  return isGood;
}

function deathIn(folder: string): Death | undefined {
  const events = eventsIn(folder);
  const leader = newLeaderMs(events, linesOf<Observation>(join(folder, 'observations.jsonl')));
  const grantedMs = withoutHolderMs(events);
  return leader && grantedMs !== undefined ? { ...leader, grantedMs } : undefined;
}
