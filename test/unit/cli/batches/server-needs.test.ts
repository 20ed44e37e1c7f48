/** What is not tried for want of something that no server has. */
import { expect, test } from 'vitest';
import type { BatchOptions } from '../../../../cli/batches/batch.js';
import { type Asked, runWhereItCan } from '../../../../cli/batches/server-needs.js';
import { nodeTooOld } from '../../../../lock-impl/third-party/library.js';

const UNIVERSAL = 'third-party/redlock-universal';

async function tried(machine: Partial<BatchOptions['machine']>) {
  const [ran, lacking] = [[] as string[], [] as string[]];
  await runWhereItCan(
    [{ lock: 'set-nx-px' }, { lock: UNIVERSAL }],
    { machine, stop: { asked: false } } as unknown as BatchOptions,
    {} as Asked,
    {
      run: async (some) => void ran.push(...some.map(({ lock }) => lock)),
      lacks: ({ lock }, why) => void lacking.push(`${lock}: ${why}`),
    },
  );
  return { ran, lacking };
}

test('a library that needs a newer Node than this is not tried, in one line; in containers, which have their own, it is', async () => {
  const old = nodeTooOld({ installedAs: 'redlock-universal', nodeMajorMin: 22 });
  const here = await tried({});
  expect(here.ran).toEqual(old === undefined ? ['set-nx-px', UNIVERSAL] : ['set-nx-px']);
  expect(here.lacking).toEqual(old === undefined ? [] : [`${UNIVERSAL}: ${old}`]);
  const contained = await tried({ containers: {} as BatchOptions['machine']['containers'] });
  expect(contained).toEqual({ ran: ['set-nx-px', UNIVERSAL], lacking: [] });
});

test.each([
  ['v20.20.2', 'it needs Node.js 22 or newer, and this is v20.20.2'],
  ['v22.0.0', undefined],
  ['v26.1.0', undefined],
])('on %s', (node, says) => {
  expect(nodeTooOld({ installedAs: 'redlock-universal', nodeMajorMin: 22 }, node)).toBe(says);
});
