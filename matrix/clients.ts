/** What happens to clients, or nothing at all. */
import type { Cell } from './cell.js';
import {
  elsewhere,
  fenced,
  flags,
  plain,
  play,
  published,
  publishedByName,
  publishedMutex,
  redlock,
  reentrant,
  renewingByThemselves,
  row,
  single,
  waiting,
} from './columns.js';

export const clientRows: readonly Cell[] = [
  ...row('nothing', flags('--nemesis', 'none'), [
    [
      [
        plain,
        reentrant,
        redlock,
        ...published,
        publishedMutex,
        fenced,
        ...elsewhere([plain], 'replica', 'sentinel', 'cluster'),
        ...elsewhere([waiting], 'sentinel'),
      ],
      'safe',
      'nothing happens',
    ],
  ]),
  ...row('client-paused', flags('--nemesis', 'pause:holder', '--lease', '2s'), [
    [
      [plain, reentrant, ...elsewhere([waiting], 'sentinel'), redlock, ...published, publishedMutex],
      'stale',
      'a holder that sleeps past its lease cannot know',
    ],
    [[fenced], 'safe', 'the resource refuses what the sleeper writes when it wakes'],
  ]),
  ...row('holder-cut-off', flags('--workload', 'renewal', '--nemesis', 'partition:holder', '--lease', '1s'), [
    [
      [reentrant, waiting, redlock],
      'safe',
      'a client whose renewals fail looks at the time as well, and stops before its lease is over',
    ],
    [[publishedMutex, ...renewingByThemselves], 'stale', 'it tells its client too late, or never, that renewals fail'],
    [
      [fenced],
      'safe',
      'a client that cannot renew stops, and the resource would refuse it',
      flags('--nemesis', 'partition:holder', '--lease', '1s'),
    ],
  ]),
  ...row('client-crash', flags('--nemesis', 'kill:holder', '--lease', '2s'), [
    [
      [plain, reentrant, ...elsewhere([waiting], 'sentinel'), redlock, ...published, publishedMutex, fenced],
      'safe',
      'the lease ends, and the lock can be had again',
    ],
    [[single('setnx')], 'deadlock', 'without an expiry nobody frees what a dead client held'],
  ]),
  ...row('client-crash-between-two-commands', play('crash-between-setnx-and-expire'), [
    [[single('setnx-expire')], 'deadlock', 'whoever dies between SETNX and EXPIRE leaves a lock without an expiry'],
  ]),
  ...row('release-by-an-expired-holder', play('only-the-owner-releases'), [
    [
      [single('set-nx-px-del')],
      'exclusion',
      'a plain DEL deletes the lock of the next holder',
      flags('--nemesis', 'none', '--careless', '--hold', '0.5x..1.5x', '--lease', '1s'),
    ],
    [[plain, reentrant, waiting, publishedMutex, fenced], 'safe', 'the owner is compared where the key is deleted'],
    [
      [redlock, ...published],
      'safe',
      'every node compares the owner before it deletes',
      play('redlock-only-the-owner-releases'),
    ],
  ]),
  ...row('client-clock', flags('--nemesis', 'clock:client'), [
    [
      [plain, reentrant, waiting, redlock, ...published, publishedMutex, fenced],
      'safe',
      'leases are counted by the server, validity by the monotonic clock',
    ],
  ]),
  ...row('lost-reply', flags('--nemesis', 'lost-reply'), [
    [
      [plain, reentrant, waiting, redlock, ...publishedByName, fenced],
      'safe',
      'a grant that nobody heard of blocks the others for a lease, no more',
    ],
  ]),
];
