/** `list`: what there is, all of a kind, or one of it. */
import { expect, it } from 'vitest';
import { listText } from '../../../../cli/docs/about-commands.js';
import { topologies } from '../../../../harness/topologies/index.js';
import { faults } from '../../../../nemesis/index.js';

it('shows alone how many there are of each kind, and what to type next', () => {
  const lines = listText().trimEnd().split('\n');
  expect(lines).toHaveLength(7);
  const counted = (kind: string) => Number(new RegExp(`^  ${kind} +(\\d+)$`, 'm').exec(listText())![1]);
  expect(counted('topologies')).toBe(Object.keys(topologies).length);
  expect(counted('faults')).toBe(Object.keys(faults).length);
  expect(lines.at(-1)).toBe("'list locks' shows all of a kind, 'list lock redlock' one of them.");
});

it.each(['topologies', 'topology'])('shows all of a kind: %s', (kind) => {
  expect(listText(kind)).toMatch(/^topologies\n {2}single +one Redis server/);
  for (const name of Object.keys(topologies)) expect(listText(kind)).toContain(`\n  ${name} `);
});

it('shows one whole', () => {
  expect(listText('lock', 'redlock')).toMatch(
    /^ {2}redlock\n {6}.*\n {6}family: [^\n]*\n {6}forms: .*\n {6}claims: .*\n$/,
  );
  expect(listText('faults', 'kill')).toMatch(/^ {2}kill {2}.*\n$/);
});

it('shows all that a library has, and what may be chosen of one', () => {
  const all = listText('lock', 'redisson');
  expect(all).toContain('  redisson/fair\n');
  expect(all).not.toContain('  spring/');
  expect(listText('lock', 'redisson/rlock@3.16.4:lock')).toBe(listText('lock', 'redisson/rlock'));
  const rlock = listText('lock', 'redisson/rlock');
  expect(rlock).toContain(
    'forms:  tryLock-wait-lease (default), lock, lock-lease, tryLock, tryLock-wait, as in --lock redisson/rlock:lock\n',
  );
  expect(rlock).toContain(
    'version: 4.7.0 (default); pinned too: 3.16.4, 3.15.6; any of org.redisson:redisson, as in --lock redisson/rlock@3.16.4\n',
  );
  expect(listText('lock', 'third-party/redlock-4')).toContain("version: your project's (default); any of redlock\n");
});

it.each([
  [['lokcs'], /^nothing is called "lokcs"; did you mean locks\? there are topologies, /],
  [['lock', 'redlok'], /^no lock "redlok"; did you mean redlock\? \('list locks' shows all\)$/],
  [['topology', 'ring'], /^no topology "ring"; there are single, /],
])('refuses in one line: %j', ([kind, name], line) => {
  expect(() => listText(kind, name)).toThrow(line);
});
