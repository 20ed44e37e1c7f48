/** What happens to clients, or nothing at all. */
import type { Cell } from './cell.js';
import {
  contention,
  elsewhere,
  fencedMutex,
  flags,
  nodeRedisMutex,
  onRedlock,
  onSingle,
  plainMutex,
  play,
  published,
  publishedMutex,
  readersAndWriters,
  reentrantMutex,
  renewingByThemselves,
  row,
  waitReplicated,
} from './columns.js';

export const clientRows: readonly Cell[] = [
  ...row('nothing', flags('--nemesis', 'none'), [
    [
      [
        plainMutex,
        reentrantMutex,
        onRedlock,
        ...published,
        publishedMutex,
        fencedMutex,
        ...elsewhere([plainMutex], 'replica', 'sentinel', 'cluster'),
        ...elsewhere([nodeRedisMutex], 'single', 'sentinel', 'cluster'),
        ...elsewhere([waitReplicated], 'sentinel'),
      ],
      'safe',
      'nothing happens',
    ],
  ]),
  ...row('contention', contention, [
    [
      [reentrantMutex, onSingle('fair'), readersAndWriters],
      'safe',
      'nothing happens; the row is there for what each costs',
    ],
  ]),
  ...row('client-paused', flags('--nemesis', 'pause:holder', '--lease', '2s'), [
    [
      [
        plainMutex,
        nodeRedisMutex,
        reentrantMutex,
        ...elsewhere([waitReplicated], 'sentinel'),
        onRedlock,
        ...published,
        publishedMutex,
      ],
      'stale',
      'a holder that sleeps past its lease cannot know',
    ],
    [[fencedMutex], 'safe', 'the resource refuses what the sleeper writes when it wakes'],
  ]),
  ...row('holder-cut-off', flags('--workload', 'renewal', '--nemesis', 'partition:holder', '--lease', '1s'), [
    [
      [reentrantMutex, onRedlock],
      'safe',
      'a client whose renewals fail looks at the time as well, and stops before its lease is over',
    ],
    [
      [waitReplicated],
      'safe',
      'a client whose extension is not answered stops, and its lease is longer than an answer is waited for',
      // It extends after a third of the lease, and waits half a second: of a second nothing is left for a busy machine.
      flags('--workload', 'renewal', '--nemesis', 'partition:holder', '--lease', '2s'),
    ],
    [[publishedMutex, ...renewingByThemselves], 'stale', 'it tells its client too late, or never, that renewals fail'],
    [
      [fencedMutex],
      'safe',
      'a client that cannot renew stops, and the resource would refuse it',
      flags('--nemesis', 'partition:holder', '--lease', '1s'),
    ],
  ]),
  ...row('client-crash', flags('--nemesis', 'kill:holder', '--lease', '2s'), [
    [
      [
        plainMutex,
        reentrantMutex,
        ...elsewhere([waitReplicated], 'sentinel'),
        onRedlock,
        ...published,
        publishedMutex,
        fencedMutex,
      ],
      'safe',
      'the lease ends, and the lock is free again',
    ],
    [[onSingle('setnx')], 'liveness', 'without an expiry nothing frees what a dead client held'],
  ]),
  ...row('client-crash-between-two-commands', play('crash-between-setnx-and-expire'), [
    [
      [onSingle('setnx-expire')],
      'liveness',
      'a client that dies between SETNX and EXPIRE leaves a lock without an expiry',
    ],
  ]),
  ...row('release-by-an-expired-holder', play('only-the-owner-releases'), [
    [
      [onSingle('set-nx-px-del')],
      'exclusion',
      'a plain DEL deletes the lock of the next holder',
      flags('--nemesis', 'none', '--careless', '--hold', '0.5x..1.5x', '--lease', '1s'),
    ],
    [
      [plainMutex, nodeRedisMutex, reentrantMutex, waitReplicated, publishedMutex, fencedMutex],
      'safe',
      'the owner is compared where the key is deleted',
    ],
    [
      [onRedlock, ...published],
      'safe',
      'every node compares the owner before it deletes',
      play('redlock-only-the-owner-releases'),
    ],
  ]),
  ...row('client-clock', flags('--nemesis', 'clock:client'), [
    [
      [plainMutex, reentrantMutex, waitReplicated, onRedlock, ...published, publishedMutex, fencedMutex],
      'safe',
      'leases are counted by the server, validity by the monotonic clock',
    ],
  ]),
  ...row('lost-reply', flags('--nemesis', 'lost-reply'), [
    [
      [
        plainMutex,
        nodeRedisMutex,
        reentrantMutex,
        waitReplicated,
        onRedlock,
        ...published,
        publishedMutex,
        fencedMutex,
      ],
      'safe',
      'a grant whose answer was lost blocks the others for a lease, no more',
    ],
  ]),
];
