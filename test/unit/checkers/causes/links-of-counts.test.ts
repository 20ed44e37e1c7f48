/** What else may have made a number of holders say less than hold is not taken for what did. */
import { expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { KEY, Story } from '../build.js';

const READERS = `{${KEY}}:readers`;

const by = (s: Story, at: number, client: string, ...argv: string[]) => s.command(at, 'r1', client, argv);
const script = (s: Story, at: number, client: string, ...calls: string[][]) =>
  calls.reduce((told, argv) => by(told, at, 'lua', ...argv), by(s, at, client, 'EVAL', 'abc', '2', KEY, READERS));

/** One server, which is watched. */
function story(model: LockModel, ...clients: string[]): Story {
  const told = clients.reduce((s, client) => s.up(client), new Story().promised(model));
  return told.deployed({ kind: 'primary' }).watch(0.1, 'r1').sample(0.5, 'r1');
}

function causeOf(told: Story) {
  const { violations } = mutualExclusion.check(told.sample(9, 'r1').input());
  const found = violations.filter(({ class: name }) => name === 'exclusion');
  expect(found).toHaveLength(1);
  return found[0]!.cause;
}

it('the readers’ number expired, and the writer’s script never asked for it', () => {
  const told = (...asks: string[][]) => {
    const s = story({ kind: 'read-write' }, 'c1', 'c3');
    script(s.grant('c1', 1, { mode: 'read' }), 0.9995, 'c1', ['INCR', READERS], ['PEXPIRE', READERS, '1000']);
    script(s.grant('c3', 3, { mode: 'write' }), 2.9995, 'c3', ...asks, ['SET', KEY, 'w', 'NX', 'PX', '5000']);
    return causeOf(s.release('c1', 4).release('c3', 4.1)).name;
  };
  expect(told(['EXISTS', READERS])).toBe('count-expired');
  expect(told()).toBe('unexplained');
});
