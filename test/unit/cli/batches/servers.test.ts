/** What a batch on several servers is told as. */
import { expect, it } from 'vitest';
import { optionsByServer, type ServersFlags } from '../../../../cli/batches/batch-flags.js';
import { byServer, sideBySide } from '../../../../cli/batches/servers.js';
import { namedServer } from '../../../../cli/run/machine.js';

interface Row {
  cell: string;
  server?: string;
  came: string;
}

const [a8, b8, a9] = [
  { cell: 'a', server: 'redis@8.0', came: 'held' },
  { cell: 'b', server: 'redis@8.0', came: 'broke' },
  { cell: 'a', server: 'valkey@9', came: 'broke' },
] as const satisfies readonly Row[];
const table = (rows: readonly Row[]) =>
  sideBySide(
    rows,
    'cell',
    ({ cell }) => cell,
    ({ came }) => came,
  );

it('has a column for each server, and says where one has no row', () => {
  expect(table([a8, b8, a9])).toEqual([
    {
      title: 'Servers side by side',
      columns: ['cell', 'redis@8.0', 'valkey@9'],
      rows: [
        ['a', 'held', 'broke'],
        ['b', 'broke', '–'],
      ],
    },
  ]);
});

it('compares nothing where there is one server, named or not', () => {
  expect(table([a8, b8])).toEqual([]);
  expect(table([{ cell: 'a', came: 'held' }])).toEqual([]);
  expect(table([])).toEqual([]);
});

it('has a section for each server, whose title names it if the user did', () => {
  expect(byServer<Row>([a8, a9, b8])).toEqual([
    { where: ', on redis@8.0', rows: [a8, b8] },
    { where: ', on valkey@9', rows: [a9] },
  ]);
  const unnamed = { cell: 'a', came: 'held' };
  expect(byServer<Row>([unnamed])).toEqual([{ where: '', rows: [unnamed] }]);
});

it.each([
  [{ servers: 'redis@8.0,,valkey@9' }, /"redis@8.0,,valkey@9" is no list of servers; write redis@8.0,valkey@9/],
  [{ servers: '' }, /"" is no list of servers/],
  [{ servers: 'redis@8.0', server: 'valkey@9' }, /give it or --server, not both/],
  [{ servers: 'redis@8.0', redis: '/p' }, /give it or --server, not both/],
  [{ servers: 'redis@8.0', runtime: 'docker' }, /--server is for the netns runtime/],
])('%j is refused before anything runs', async (given, message) => {
  const flags: ServersFlags = { runtime: 'netns', jobs: 1, out: 'runs', json: false, ...given };
  await expect(optionsByServer(flags, '/', () => {})).rejects.toThrow(message);
});

it.each([
  ['what was asked for by name', { asked: 'redis@8.0', origin: 'downloaded' }, 'redis@8.0'],
  ['a path', { origin: '--server' }, '/p/redis-server'],
  ['a path, as earlier versions recorded it', { origin: '--redis' }, '/p/redis-server'],
  ['what was found', { origin: 'PATH' }, undefined],
])('the server that the user named: %s', (_, { asked, origin }: { asked?: string; origin: string }, named) => {
  expect(namedServer({ path: '/p/redis-server', env: {}, version: '8.0.2', origin, asked })).toBe(named);
});
