/** What asks for the same machine again. */
import { expect, test } from 'vitest';
import { namingMachine } from '../../../../cli/run/machine-flags.js';

test.each([
  ['nothing that was not asked for', { runtime: 'auto' }, ''],
  ['a server by its name', { runtime: 'auto', server: 'redis@8.0' }, '--server redis@8.0'],
  [
    'a path from where the user stands',
    { runtime: 'netns', server: './bin/redis-server' },
    '--server /here/bin/redis-server --runtime netns',
  ],
  ['a path by its older flag', { runtime: 'auto', redis: 'redis-server' }, '--server /here/redis-server'],
  [
    'images',
    { runtime: 'docker', image: 'redis:8', clientImage: 'node:24' },
    '--runtime docker --image redis:8 --client-image node:24',
  ],
  ['virtual time', { runtime: 'sim' }, '--runtime sim'],
])('%s', (_, flags, named) => {
  expect(namingMachine(flags, '/here').join(' ')).toBe(named);
});
