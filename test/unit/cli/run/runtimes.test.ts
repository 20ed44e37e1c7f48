/** Which runtime a run gets, where no engine is asked. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AskedMachine } from '../../../../cli/run/machine.js';
import { chooseRuntime } from '../../../../cli/run/runtimes.js';
import { pathWithoutNamespaces } from '../../../support/no-namespaces.js';

const before = { ...process.env };
beforeEach(() => {
  process.env.DOCKER_HOST = 'unix:///nowhere/docker.sock';
});
afterEach(() => {
  for (const name of ['DOCKER_HOST', 'PATH']) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
});

test.each<[AskedMachine, RegExp]>([
  [{ runtime: 'docker', service: 'etcd' }, /^the docker runtime is not available: no container engine was found/],
  [
    { runtime: 'auto', service: 'postgres', image: 'postgres:17' },
    /^the docker runtime is not available: no container/,
  ],
  [{ runtime: 'docker', service: 'etcd', server: 'etcd@3.5' }, /^--server is for the netns runtime; .* with --image$/],
  [{ runtime: 'netns', service: 'mariadb', image: 'mariadb:11.8' }, /^--image and --client-image are for the docker/],
  [
    { runtime: 'sim', image: 'redis:8' },
    /^--image and --client-image are for the docker runtime, not for virtual time$/,
  ],
  [{ runtime: 'sim', service: 'etcd' }, /^virtual time has Redis and Valkey only, not etcd: leave out --runtime sim$/],
])('%j is refused in one line', async (asked, line) => {
  await expect(chooseRuntime(asked, () => {})).rejects.toThrow(line);
});

test('sim is virtual time, as asked', async () => {
  expect(await chooseRuntime({ runtime: 'sim' }, () => {})).toEqual({
    name: 'sim',
    why: 'virtual time, as asked',
    virtualTime: { why: 'as asked' },
  });
});

const FORBIDDEN = '"unshare .* true" fails: unshare: unshare failed: Operation not permitted';

test('where neither an engine nor namespaces can be had, auto is virtual time, and says what brings real time', async () => {
  process.env.PATH = pathWithoutNamespaces();
  const chosen = await chooseRuntime({ runtime: 'auto' }, () => {});
  expect(chosen).toMatchObject({ name: 'sim', virtualTime: { why: 'this machine allows no network namespaces' } });
  expect('why' in chosen && chosen.why).toMatch(
    new RegExp(
      `^played in virtual time: this machine allows no network namespaces \\(${FORBIDDEN}; no docker: no container engine was found`,
    ),
  );
  const remedy = 'virtualTime' in chosen ? chosen.virtualTime.remedy : undefined;
  expect(remedy).toMatch(/^a container engine \(docker, podman\); or .*--privileged/);
});

test('a program that is missing is no kernel that forbids it', async () => {
  process.env.PATH = '/nowhere';
  expect(await chooseRuntime({ runtime: 'auto' }, () => {})).toMatchObject({
    name: 'sim',
    virtualTime: {
      why: 'this machine has not what makes network namespaces',
      remedy: 'a container engine (docker, podman); or install it (apt-get install util-linux)',
    },
  });
});

test('a server that was named is played in virtual time as well', async () => {
  process.env.PATH = pathWithoutNamespaces();
  expect(await chooseRuntime({ runtime: 'auto', server: 'valkey@9' }, () => {})).toMatchObject({ name: 'sim' });
});

test.each<[AskedMachine, string]>([
  [{ runtime: 'netns' }, '; .*--privileged'],
  [{ runtime: 'auto', service: 'etcd' }, '; .*; and virtual time has Redis and Valkey only, not etcd$'],
])('%j is not played in virtual time in its place', async (asked, end) => {
  process.env.PATH = pathWithoutNamespaces();
  const line = new RegExp(`^the netns runtime is not available: ${FORBIDDEN}${end}`);
  await expect(chooseRuntime(asked, () => {})).rejects.toThrow(line);
});
