/** What is of another service than Redis is run on its servers, and is not tried where they are not here. */
import { afterAll, expect, test, vi } from 'vitest';

vi.hoisted(() => vi.resetModules());
const batchOptions = vi.hoisted(() => vi.fn());
vi.mock('../../../../cli/batches/batch-flags.js', () => ({ batchOptions }));

import type { BatchOptions } from '../../../../cli/batches/batch.js';
import { type Asked, runWhereItCan } from '../../../../cli/batches/server-needs.js';
import { ServerNotFoundError } from '../../../../harness/machine/service-program.js';
import type { ServiceName } from '../../../../harness/vocabulary/topology.js';

afterAll(() => void vi.resetModules());

const stop = { asked: false };
const redis = { machine: { runtime: 'redis' }, stop } as unknown as BatchOptions;
const ITEMS: { lock: string; service?: ServiceName }[] = [
  { lock: 'pg-row', service: 'postgres' },
  { lock: 'set-nx-px' },
  { lock: 'zk-lock', service: 'zookeeper' },
  { lock: 'pg-advisory', service: 'postgres' },
];

async function tried(options: BatchOptions) {
  const ran: [string[], string, boolean][] = [];
  const lacking: string[] = [];
  const asked = { flags: { server: 'redis@8.0', out: 'here' }, cwd: '/', say: () => {} } as unknown as Asked;
  await runWhereItCan(ITEMS, options, asked, {
    run: async (some, on) => void ran.push([some.map(({ lock }) => lock), on.machine.runtime, on.stop === stop]),
    lacks: ({ lock }, why) => void lacking.push(`${lock}: ${why}`),
  });
  return { ran, lacking };
}

test('each service has its own machine, without the server that was named of another', async () => {
  batchOptions.mockImplementation(async (flags: object, _cwd: string, _say: unknown, service: ServiceName) => {
    if (service === 'zookeeper') throw new ServerNotFoundError('it needs java');
    return { machine: { runtime: `${service} ${JSON.stringify(flags)}` }, stop: {}, service };
  });
  expect(await tried(redis)).toEqual({
    ran: [
      [['pg-row', 'pg-advisory'], 'postgres {"out":"here"}', true],
      [['set-nx-px'], 'redis', true],
    ],
    lacking: ['zk-lock: it needs java'],
  });
});

test('what the options are for is run with them', async () => {
  const { ran } = await tried({ ...redis, machine: { runtime: 'mine' }, service: 'postgres' } as BatchOptions);
  expect(ran[0]).toEqual([['pg-row', 'pg-advisory'], 'mine', true]);
});

test('what else is wrong is told', async () => {
  batchOptions.mockRejectedValue(new Error('no namespaces'));
  await expect(tried(redis)).rejects.toThrow('no namespaces');
});
