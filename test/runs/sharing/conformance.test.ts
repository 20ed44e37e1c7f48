/**
 * Every lock of the registry, on every topology that it names, does what it claims while nothing fails. Canaries and their
 * twins are left out: they have tests of their own, for what they do when something does.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientProgram } from '../../../harness/client/program.js';
import { cacheFolder } from '../../../harness/machine/redis-binary.js';
import { topologies } from '../../../harness/topologies/index.js';
import { services } from '../../../harness/topologies/services.js';
import type { LockDefinition } from '../../../harness/vocabulary/lock.js';
import { locks } from '../../../lock-impl/index.js';
import { nodeRedis } from '../../../lock-impl/third-party/library.js';
import type { Finding, Job } from '../../support/conformance/inside.js';
import { properties } from '../../support/conformance/properties.js';
import { BUNDLED, jobInside } from '../../support/job-inside.js';
import { clientMain, projectFolder } from '../../support/lock-client.js';
import { isAllRequired, isNight } from '../../support/needs.js';
import { lacking } from '../../support/needs-service.js';

const support = fileURLToPath(new URL('../../support', import.meta.url));

const tested = await Promise.all(
  Object.entries(locks)
    // A latch is no lock: its workload's checker judges it.
    .filter(([name, { canary }]) => !canary && name !== 'latch')
    .map(async ([name, entry]) => {
      const { default: lock } = (await import(join(projectFolder, 'lock-impl', entry.module))) as {
        default: LockDefinition;
      };
      const claims = {
        features: lock.features ?? [],
        model: lock.model ?? { kind: 'mutex' as const },
        lacks: entry.lacks ?? [],
      };
      const module =
        entry.library === nodeRedis
          ? 'test/fixtures/locks/node-redis-6.mjs' // with its client, which a run brings along
          : join('dist/lock-impl', entry.module);
      const clientArgv = clientProgram([process.execPath, clientMain, join(projectFolder, module)]);
      return { name, topologies: entry.topologies, clientArgv, ...claims };
    }),
);

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lock-torture-conformance-'));
  await build({
    ...BUNDLED,
    outdir: folder,
    entryPoints: {
      inside: join(support, 'conformance/inside.ts'),
      // A program of its own, which `replica` starts from beside itself.
      main: join(projectFolder, 'harness/topologies/failover-manager/main.ts'),
    },
  });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
afterAll(async () => {
  await Promise.allSettled(begun.values());
  rmSync(folder, { recursive: true, force: true });
});

async function findingsOn(topology: string, claimants: Job['locks']): Promise<Finding[]> {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const redis = await services[topologies[topology]!.service].find({ cacheFolder: cacheFolder(), say });
  const job: Job = { topology, folder: mkdtempSync(join(folder, `${topology}-`)), redis, locks: claimants };
  return jobInside<Finding>(join(folder, 'inside.js'), job);
}

/** A lock may want another server; a published library another Node.js, or to be installed, which optional ones need not be. */
function cannotRunHere(problem: string): boolean {
  const optional = !isAllRequired && problem.includes('is not installed (it is optional)');
  // Of commands that this server has not: `test/locks/newer-servers.test.ts` has one that does.
  const lacks = problem.includes(': this server has no ');
  return problem.startsWith('handshake: ') && (optional || lacks || problem.includes(': it needs Node.js '));
}

const missing: (string | undefined)[] = await Promise.all(
  Object.values(services).map(async ({ name }) => (name !== 'redis' && (await lacking(name)) ? name : undefined)),
);
const here = Object.values(topologies).filter(({ service }) => !missing.includes(service));

const begun = new Map<string, Promise<Finding[]>>();
const claimantsOn = (topology: string) => tested.filter((lock) => lock.topologies.includes(topology));

/** Of a deployment that is begun when it is first asked for. */
function findingsOf(topology: string): Promise<Finding[]> {
  const findings = begun.get(topology) ?? findingsOn(topology, claimantsOn(topology));
  begun.set(topology, findings);
  findings.catch(() => {}); // not before it is awaited
  return findings;
}

/** A lock reaches the primary of either as it does that of `single` and of `cluster`: by the client that it is given. */
const AT_NIGHT: ReadonlySet<string> = new Set(['replica', 'sentinel']);
const played = isNight ? here : here.filter(({ name }) => !AT_NIGHT.has(name));

describe.each(here.map(({ name }) => name))('on %s', (topology) => {
  const claimants = claimantsOn(topology);
  const next = played[played.findIndex(({ name }) => name === topology) + 1];
  const cells = claimants.flatMap((lock) =>
    Object.entries(properties)
      .filter(([, { claimedBy }]) => claimedBy(lock))
      .map(([property]) => [lock.name, property] as const),
  );
  let findings: Finding[] = [];
  beforeAll(async () => {
    const all = findingsOf(topology);
    // Two at once: a check mostly waits, and of each deployment a few locks are left at the end.
    // Why one failed is told where it is waited for.
    if (next) findingsOf(next.name).catch(() => undefined);
    findings = await all;
  }, 900_000);

  it.for(cells)('%s: %s', { tags: AT_NIGHT.has(topology) ? ['night'] : [] }, ([lock, property], { skip }) => {
    const finding = findings.find((one) => one.lock === lock && one.property === property);
    expect(finding, 'it was not checked').toBeDefined();
    const { problem } = finding!;
    if (problem !== undefined && cannotRunHere(problem)) skip(problem);
    expect(problem).toBeUndefined();
  });
});
