/** Which runtime a run gets, where no engine is asked. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AskedMachine } from '../../../../cli/run/machine.js';
import { chooseRuntime } from '../../../../cli/run/runtimes.js';

const before = process.env.DOCKER_HOST;
beforeEach(() => {
  process.env.DOCKER_HOST = 'unix:///nowhere/docker.sock';
});
afterEach(() => {
  if (before === undefined) delete process.env.DOCKER_HOST;
  else process.env.DOCKER_HOST = before;
});

test.each<[AskedMachine, RegExp]>([
  [{ runtime: 'docker', service: 'etcd' }, /^the docker runtime is not available: no container engine was found/],
  [
    { runtime: 'auto', service: 'postgres', image: 'postgres:17' },
    /^the docker runtime is not available: no container/,
  ],
  [{ runtime: 'docker', service: 'etcd', server: 'etcd@3.5' }, /^--server is for the netns runtime; .* with --image$/],
  [{ runtime: 'netns', service: 'mariadb', image: 'mariadb:11.8' }, /^--image and --client-image are for the docker/],
])('%j is refused in one line', async (asked, line) => {
  await expect(chooseRuntime(asked, () => {})).rejects.toThrow(line);
});
