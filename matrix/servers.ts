/** What happens to servers that never replace one another: a single one, or independent ones. */
import type { Cell } from './cell.js';
import {
  fencedMutex,
  flags,
  halfQuorum,
  onRedlock,
  plainMutex,
  plan,
  play,
  published,
  publishedExceptRedlock4,
  publishedMutex,
  redlock4,
  reentrantMutex,
  row,
  waitingForEveryNode,
  waitReplicated,
  waitsForTheDisk,
} from './columns.js';

/** Few locks, held for long: one that is lost is asked for at once, and still held. */
const FOR_LONG = ['--keys', '2', '--hold', '0.4x..0.7x'];
const afterAPowerCut = (persistence: string) =>
  flags('--nemesis', 'power-cut', '--persistence', persistence, ...FOR_LONG);
const noServerForgets = 'no server forgets a grant, and careful clients stop in time';
const lateButSound = 'a lease ends later than it should, which delays the next holder and breaks nothing';

export const serverRows: readonly Cell[] = [
  ...row('node-forgets', flags('--nemesis', 'amnesia', '--persistence', 'none'), [
    [
      [plainMutex, reentrantMutex, waitReplicated, publishedMutex],
      'exclusion',
      'the server comes back empty and grants again',
      flags('--nemesis', 'amnesia', '--persistence', 'none', ...FOR_LONG),
    ],
    [
      [onRedlock, ...published],
      'exclusion',
      'one of the three that had granted comes back empty',
      flags('--nemesis', 'forget-granted', '--persistence', 'none'),
    ],
    [[fencedMutex], 'harm', 'the counter of tokens begins anew'],
  ]),
  ...row('node-clock-forward', flags('--nemesis', 'clock:primary'), [
    [
      [plainMutex, reentrantMutex, waitReplicated, publishedMutex],
      'exclusion',
      'the key expires on the server before its lease is over',
    ],
    [
      [onRedlock, ...published],
      'exclusion',
      'the key expires on one of the three that had granted',
      flags('--nemesis', 'skew-granted'),
    ],
    [[fencedMutex], 'safe', 'two hold at once, but the counter survives and the resource refuses the elder'],
  ]),
  ...row('node-clock-error-below-the-lease', play('redlock-clock-error-below-the-lease'), [
    [[onRedlock], 'exclusion', 'of a bare majority, one forgets before the lease is over'],
  ]),
  ...row('even-number-of-nodes', flags('--nodes', '6', '--keys', '1', '--nemesis', 'none'), [
    [[onRedlock], 'safe', 'a majority of six is four, and two of those cannot come together'],
    [[halfQuorum], 'exclusion', 'half of six is three, and the other half grants it as well'],
  ]),
  ...row('node-clock-back', play('server-clock-goes-back'), [
    [[plainMutex, reentrantMutex, waitReplicated, publishedMutex, fencedMutex], 'safe', lateButSound],
    [
      [onRedlock, ...published],
      'safe',
      'the nodes of a majority end the lease in time',
      play('redlock-clocks-go-back'),
    ],
  ]),
  ...row('eviction', flags('--nemesis', 'evict', '--maxmemory-policy', 'volatile-ttl'), [
    [[plainMutex, reentrantMutex, waitReplicated, publishedMutex], 'exclusion', 'a full server throws the lock away'],
    [
      [onRedlock, ...published],
      'exclusion',
      'one of the three that had granted throws the lock away',
      play('redlock-node-evicts'),
    ],
    [[fencedMutex], 'safe', 'two hold at once, but the counter has no expiry, so a volatile policy leaves it alone'],
  ]),
  ...row('eviction-of-any-key', flags('--nemesis', 'evict', '--maxmemory-policy', 'allkeys-random'), [
    [[plainMutex], 'exclusion', 'a full server throws the lock away'],
    [[fencedMutex], 'harm', 'the counter of tokens is thrown away, too, and begins anew'],
  ]),
  ...row('restart-with-every-write-on-disk', flags('--nemesis', 'kill', '--persistence', 'aof-always'), [
    [
      [plainMutex, reentrantMutex, waitReplicated, onRedlock, ...publishedExceptRedlock4, publishedMutex, fencedMutex],
      'safe',
      noServerForgets,
    ],
    [
      [redlock4],
      'safe',
      `${noServerForgets}, as long as nobody extends: an extension that finds no majority, for one node is down and another one was when it was last extended, unlocks every node that answers and tries again for two seconds, while its client works on and the next one is granted`,
      // With bounds for holds no client extends.
      flags('--nemesis', 'kill', '--persistence', 'aof-always', '--hold', '0.1x..0.7x'),
    ],
  ]),
  ...row('power-cut-with-a-log-synced-each-second', afterAPowerCut('aof-everysec'), [
    [[plainMutex, reentrantMutex], 'exclusion', 'the server comes back without the grants of its last second'],
    [
      [waitsForTheDisk],
      'safe',
      'a grant is on disk before it counts: WAITAOF 1 0',
      // A grant takes up to a second, until the log is synced.
      flags('--nemesis', 'power-cut', '--persistence', 'aof-everysec', '--hold', '0.4x..0.7x', '--wait', '3s'),
    ],
  ]),
  ...row('power-cut-with-every-write-synced', afterAPowerCut('aof-always'), [
    [[plainMutex, reentrantMutex, onRedlock], 'safe', 'a grant was synced before it was answered'],
  ]),
  ...row('power-cut-of-one-of-a-bare-majority', play('redlock-node-restarts-late-after-a-power-cut'), [
    [[onRedlock], 'safe', 'it stays away until every lease that it may have granted is over: delayed restarts'],
  ]),
  ...row('node-hangs', flags('--workload', 'renewal', ...plan('a-node-hangs'), '--lease', '1500ms'), [
    [[onRedlock, ...published], 'safe', 'a command to a node that hangs fails in time, and the others are a majority'],
    [
      [waitingForEveryNode],
      'stale',
      'a renewal waits for the node that hangs until the lease is over on the others, and the holder does not learn of it',
    ],
  ]),
  ...row('partition', flags('--nemesis', 'partition'), [
    [[onRedlock, ...publishedExceptRedlock4], 'safe', 'a minority that is cut off decides nothing'],
    [
      [redlock4],
      'safe',
      'a minority that is cut off decides nothing, as long as nobody extends: an extension that finds no majority unlocks every node that answers and tries again for two seconds, while its client works on and the next one is granted',
      // With bounds for holds no client extends.
      flags('--nemesis', 'partition', '--hold', '0.1x..0.7x'),
    ],
    [
      [plainMutex, reentrantMutex, waitReplicated],
      'safe',
      'a server that cannot be reached grants nothing, and forgets nothing',
    ],
    [
      [publishedMutex],
      'safe',
      'a server that cannot be reached grants nothing, and forgets nothing; of a renewal that fails its holder is told too late (holder-cut-off)',
      // With bounds for holds none is renewed.
      flags('--nemesis', 'partition', '--hold', '0.1x..0.7x'),
    ],
  ]),
];
