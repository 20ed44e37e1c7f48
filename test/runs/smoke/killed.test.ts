/**
 * A client and the outer CLI, killed with SIGKILL: the run goes on without the one, and ends with the other.
 *
 * @module-tag namespaces
 */
import { afterEach, expect, test } from 'vitest';
import { find, inFullSwing, isOuter, LEFT_LIMIT_MS } from '../../support/killed.js';
import { endAll, historyOf, namespacesOf, processesOf, type Torture, until } from '../../support/torture.js';

/** The client itself, and not what leads it into its namespaces. */
const CLIENT = /^\S*node \S*client\/main\.js/;

let run: Torture;
afterEach(() => endAll(run));

test('a killed client is replaced by another; a killed outer CLI takes everything with it', async () => {
  run = await inFullSwing();
  const client = find(run, (command) => CLIENT.test(command));
  process.kill(client.pid, 'SIGKILL');
  const down = await until('its death in the history', () =>
    historyOf(run).find((event) => event.type === 'client-down' && event.reason.includes('SIGKILL')),
  );
  const name = down.type === 'client-down' ? down.client : '';
  await until('its successor', () =>
    historyOf(run).some((event) => event.type === 'client-up' && event.client.startsWith(`${name}.`)),
  );
  process.kill(find(run, isOuter).pid, 'SIGKILL');
  await until('nothing left', () => processesOf(run.mark).length === 0, LEFT_LIMIT_MS);
  expect(namespacesOf(run.mark)).toEqual([]);
});
