/** What a campaign found in a few words, with whose mistakes they are: the first words of its page and of what it prints. */
import { count, plural } from '../../harness/record/facts/words.js';
import { BLAMES } from '../../harness/record/schemas/blame.js';
import type { BlameName } from '../../harness/vocabulary/verdict.js';

interface Found {
  state: 'new' | 'known';
  fails: boolean;
  /** `blame/class/kind/cause`. */
  fingerprint: string;
}

/** `2 new findings, both Redis'`. What is known is not new; a campaign that is not complete cannot tell, whatever it found. */
export function campaignWords(findings: readonly Found[], exitStatus: number): string {
  const fresh = findings.filter(({ state }) => state === 'new');
  const cannotTell = exitStatus === 0 || exitStatus === 1 ? '' : 'CANNOT TELL: ';
  const allowed = fresh.length > 0 && fresh.every(({ fails }) => !fails) ? ', allowed' : '';
  const known = fresh.length < findings.length ? `; ${count(findings.length - fresh.length)} known` : '';
  const found = fresh.length === 0 ? 'no new finding' : `${plural(fresh.length, 'new finding')}, ${whoseOf(fresh)}`;
  return `${cannotTell}${found}${allowed}${known}`;
}

/** Campaigns are of Redis. */
const OWNS: Readonly<Record<BlameName, string>> = {
  lock: "the lock's",
  unexplained: 'unexplained',
  deployment: "Redis'",
  lease: "the lease's",
};

/** `both Redis'`, `1 the lock's, 2 Redis'`. */
function whoseOf(findings: readonly Found[]): string {
  const tally = BLAMES.flatMap((blame) => {
    const times = findings.filter(({ fingerprint }) => fingerprint.split('/')[0] === blame).length;
    return times === 0 ? [] : [{ name: OWNS[blame], times }];
  });
  const [only] = tally;
  if (tally.length !== 1 || only === undefined)
    return tally.map(({ name, times }) => `${count(times)} ${name}`).join(', ');
  return `${['', '', 'both '][only.times] ?? 'all '}${only.name}`;
}
