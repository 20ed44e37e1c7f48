/** What happens to servers that replace nobody: alone, or independent of each other. */
import type { Cell } from './cell.js';
import {
  fenced,
  flags,
  plain,
  plan,
  play,
  published,
  publishedByName,
  publishedMutex,
  redlock,
  reentrant,
  row,
  waiting,
  waitingForEveryNode,
} from './columns.js';

const nobodyForgets = 'no server forgets a grant, and careful clients stop in time';
const lateButSound = 'a lease ends later than it should, which delays the next holder and breaks nothing';

export const serverRows: readonly Cell[] = [
  ...row('node-forgets', flags('--nemesis', 'amnesia', '--persistence', 'none'), [
    [[plain, reentrant, waiting, publishedMutex], 'exclusion', 'the server comes back empty and grants again'],
    [
      [redlock, ...published],
      'exclusion',
      'one of the three that had granted comes back empty',
      flags('--nemesis', 'forget-granted', '--persistence', 'none'),
    ],
    [[fenced], 'harm', 'the counter of tokens begins anew'],
  ]),
  ...row('node-clock-forward', flags('--nemesis', 'clock:primary'), [
    [
      [plain, reentrant, waiting, publishedMutex],
      'exclusion',
      'the key expires on the server before its lease is over',
    ],
    [
      [redlock, ...published],
      'exclusion',
      'the key expires on one of the three that had granted',
      flags('--nemesis', 'skew-granted'),
    ],
    [[fenced], 'safe', 'two hold at once, but the counter survives and the resource refuses the elder'],
  ]),
  ...row('node-clock-back', play('server-clock-goes-back'), [
    [[plain, reentrant, waiting, publishedMutex, fenced], 'safe', lateButSound],
    [[redlock, ...published], 'safe', 'the nodes of a majority end the lease in time', play('redlock-clocks-go-back')],
  ]),
  ...row('eviction', flags('--nemesis', 'evict', '--maxmemory-policy', 'volatile-ttl'), [
    [[plain, reentrant, waiting], 'exclusion', 'a full server throws the lock away'],
    [
      [redlock, ...publishedByName],
      'exclusion',
      'one of the three that had granted throws the lock away',
      play('redlock-node-evicts'),
    ],
    [[fenced], 'safe', 'two hold at once, but the counter has no expiry, so a volatile policy leaves it alone'],
  ]),
  ...row('eviction-of-any-key', flags('--nemesis', 'evict', '--maxmemory-policy', 'allkeys-random'), [
    [[plain], 'exclusion', 'a full server throws the lock away'],
    [[fenced], 'harm', 'the counter of tokens is thrown away, too, and begins anew'],
  ]),
  ...row('restart-with-every-write-on-disk', flags('--nemesis', 'kill', '--persistence', 'aof-always'), [
    [[plain, reentrant, waiting, redlock, ...published, publishedMutex, fenced], 'safe', nobodyForgets],
  ]),
  ...row('node-hangs', flags('--workload', 'renewal', ...plan('a-node-hangs'), '--lease', '1500ms'), [
    [[redlock, ...published], 'safe', 'a command to a node that hangs fails in time, and the others are a majority'],
    [
      [waitingForEveryNode],
      'stale',
      'a renewal waits for the node that hangs until the lease is over on the others, and nobody is told',
    ],
  ]),
  ...row('partition', flags('--nemesis', 'partition'), [
    [[redlock, ...published], 'safe', 'a minority that is cut off decides nothing'],
    [
      [plain, reentrant, waiting, publishedMutex],
      'safe',
      'a server that cannot be reached grants nothing, and forgets nothing',
    ],
  ]),
];
