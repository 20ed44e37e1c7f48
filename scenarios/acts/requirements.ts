/** What every lock must do, whatever it is made of: the plays are the same for one server and for five. */
import type { Stage } from '../../harness/vocabulary/workload.js';
import { leaseOver } from './asking.js';

const WAIT_MS = 10_000;

/** A client that asks while it is held is refused; once it is given back, another one has it. */
export async function askWhileHeld(stage: Stage): Promise<void> {
  const [first, ...others] = [stage.client(1), stage.client(2), stage.client(3)];
  const held = await first.acquire('lock:0', { waitMs: WAIT_MS });
  stage.check('it is granted', held.type === 'ok');
  const refused = await Promise.all(others.map((client) => client.acquire('lock:0')));
  stage.check(
    'all others are refused',
    refused.every(({ type }) => type === 'fail'),
  );

  stage.check('it is given back', (await first.release(held)).type === 'ok');
  // Both wait; the one that comes second is granted what the other has given back.
  await Promise.all(
    others.map(async (client) => {
      const next = await client.acquire('lock:0', { waitMs: WAIT_MS });
      stage.check(`${client.name} has it in its turn`, next.type === 'ok');
      await client.release(next);
    }),
  );
}

/** A holder dies. The lock is not given back, and yet it is free again when the lease is over. */
export async function crashWhileHolding(stage: Stage): Promise<void> {
  const [holder, other] = [stage.client(1), stage.client(2)];
  const held = await holder.acquire('lock:0', { waitMs: WAIT_MS });
  stage.check('it is granted', held.type === 'ok');
  const death = await stage.strike('kill', { names: [holder.name] });

  const next = await other.acquire('lock:0', { waitMs: WAIT_MS });
  stage.check('another client has it without anybody giving it back', next.type === 'ok');
  await other.release(next);
  await death.heal();
}

/**
 * A client stops working in time, and gives back only when the lock is another's: no harm is done. It sleeps in between, so
 * that a watchdog does not renew a lock that is no longer used.
 */
export async function releaseTooLate(stage: Stage): Promise<void> {
  const [late, next, third] = [stage.client(1), stage.client(2), stage.client(3)];
  const old = await late.acquire('lock:0', { waitMs: WAIT_MS });
  stage.check('it is granted', old.type === 'ok');
  await late.abandon(old);
  const sleep = await stage.strike('pause', { names: [late.name] });
  await leaseOver(stage, 'lock:0');

  const current = await next.acquire('lock:0', { leaseMs: 20_000, waitMs: WAIT_MS });
  stage.check('the next one has it when the lease is over', current.type === 'ok');
  await sleep.heal();
  // What its release answers is another question (silent-unlock).
  await late.release(old);
  stage.check('a third one is refused as before', (await third.acquire('lock:0')).type === 'fail');
  stage.check('the next one still holds it', (await next.release(current)).type === 'ok');
}
