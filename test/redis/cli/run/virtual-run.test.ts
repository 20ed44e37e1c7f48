/** `run` in virtual time, as a user starts it: what is said, what is left, and that it ends when it is asked to. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readConfig } from '../../../../harness/record/store.js';
import { pathWithoutNamespaces } from '../../../support/no-namespaces.js';
import { endAll, historyOf, processesOf, start, type Torture, torture, until } from '../../../support/torture.js';

const HERE = { PATH: pathWithoutNamespaces(), DOCKER_HOST: 'unix:///nowhere/docker.sock' };
/** Whoever may make namespaces elsewhere: this machine is one that does not. */
const AUTO = ['--runtime', 'auto', '--seed', '3'];
const WHY = 'this machine allows no network namespaces';

let run: Torture | undefined;
afterEach(() => run && endAll(run));

test('where there are no namespaces a run is played in virtual time, and says so first, in its verdict and everywhere', async () => {
  const { status, output, folder, results } = await torture([...AUTO, '--time-limit', '2500ms'], { env: HERE });
  expect([0, 1], output).toContain(status);
  const [first, second] = output.split('\n');
  expect(first).toContain(`runtime sim: played in virtual time: ${WHY} (`);
  expect(second).toMatch(/^for real time: a container engine \(docker, podman\); or .*--privileged/);
  expect(output).toMatch(/^ +[\d.]+ s {2}torture$/m);
  expect(output).toMatch(new RegExp(`^ +Played in virtual time: ${WHY}; for real time: a container engine`, 'm'));
  expect(output).toContain('--runtime sim --seed 3\n');
  expect(results.virtualTime).toContain(WHY);
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain(`Played in virtual time: ${WHY}`);
  expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toContain('Played in virtual time');
  expect(readFileSync(join(folder, 'junit.xml'), 'utf8')).toContain('Played in virtual time');
  expect(readConfig(folder)).toMatchObject({ runtime: 'sim', virtualTime: { why: WHY }, lock: 'set-nx-px' });

  // The same seed is the same course of events, to the last byte.
  const again = await torture(['--runtime', 'sim', '--seed', '3', '--time-limit', '2500ms']);
  const course = (of: string) => readFileSync(join(of, 'history.jsonl'), 'utf8').replace(/^.*\n/, '');
  expect(course(again.folder)).toBe(course(folder));
  expect(again.output).toMatch(/^ +Played in virtual time, as asked\.$/m);
});

test('a program cannot be played there: one line with the remedies, before anything starts', async () => {
  const args = ['--lock', `cmd:${process.execPath} client.js`];
  const { status, errors, folder } = await torture([...AUTO, ...args], { env: HERE });
  expect(status).toBe(3);
  expect(errors).toMatch(
    new RegExp(
      `^lock-torture: --lock cmd:\\S*node client\\.js: a program cannot be played in virtual time, only a lock in JavaScript or TypeScript; ${WHY}; for real time: a container engine \\(docker, podman\\); or .*--privileged\\)?\n$`,
    ),
  );
  expect(existsSync(folder)).toBe(false);
});

test('a Ctrl-C ends it: what there is is judged, and nothing is left', async () => {
  run = start(['--runtime', 'sim', '--time-limit', '300s', '--seed', '3']);
  const going = run;
  await until('its torture phase', () =>
    historyOf(going).some((event) => event.type === 'phase' && event.phase === 'torture'),
  );
  run.child.kill('SIGINT');
  const { code } = await run.ended;
  expect([0, 1, 2], run.output()).toContain(code);
  expect(run.output()).toMatch(/^(HELD|VIOLATED|CANNOT TELL)/m);
  const ended = historyOf(run).filter((event) => event.type === 'phase');
  expect(ended.map(({ phase }) => phase)).toEqual(['warm-up', 'torture', 'heal', 'recovery', 'probe', 'end']);
  expect(processesOf(run.mark)).toEqual([]);
});

test('a killed command takes all of it with it', async () => {
  run = start(['--runtime', 'sim', '--time-limit', '300s', '--seed', '3']);
  const going = run;
  await until('its torture phase', () =>
    historyOf(going).some((event) => event.type === 'phase' && event.phase === 'torture'),
  );
  run.child.kill('SIGKILL');
  await until('nothing left', () => processesOf(going.mark).length === 0);
  expect(readdirSync(join(run.out, 'latest'))).toContain('history.jsonl');
});
