/** Which server leads, by what each says; and which jars run one. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { services } from '../../../../../harness/topologies/services.js';
import { stateIn } from '../../../../../harness/topologies/zookeeper/four-letters.js';
import { jarsOf } from '../../../../../harness/topologies/zookeeper/program.js';
import {
  missingOfQuorum,
  type ZooAnswer,
  zooLeaderShard,
} from '../../../../../harness/topologies/zookeeper/zookeeper.js';
import type { ServerNode } from '../../../../../harness/vocabulary/topology.js';

const nodes = ['z1', 'z2', 'z3'].map((name) => ({ name }) as ServerNode);
const says = (mode: 'leader' | 'follower', epoch: number): ZooAnswer => ({
  serving: { version: '3.8.0', mode },
  epoch,
});
const alone: ZooAnswer = { epoch: 2 };
const silent = new Error('no answer within 1000 ms');
const leader = (...answers: ZooAnswer[]) => zooLeaderShard(nodes, answers)[0]?.primary.name;

it('is the one that takes itself for it, in the newest time, with a majority', () => {
  expect(leader(says('leader', 1), says('follower', 1), says('follower', 1))).toBe('z1');
  // The old leader does not know yet.
  expect(leader(says('leader', 1), says('leader', 2), says('follower', 2))).toBe('z2');
  expect(leader(silent, says('leader', 2), says('follower', 2))).toBe('z2');
});

it('is nobody where no majority serves, or the leader itself was not heard', () => {
  expect(leader(says('leader', 1), silent, alone)).toBeUndefined();
  expect(leader(silent, says('follower', 2), says('follower', 2))).toBeUndefined();
  expect(leader(says('leader', 1), says('follower', 2), says('follower', 2))).toBeUndefined();
  expect(leader(alone, alone, alone)).toBeUndefined();
});

it('says what is missing, in words', () => {
  expect(missingOfQuorum(nodes, [says('leader', 1), says('follower', 1), says('follower', 1)])).toEqual([]);
  expect(missingOfQuorum(nodes, [says('leader', 2), says('follower', 2), silent])).toEqual([
    'z3 does not answer (no answer within 1000 ms)',
  ]);
  expect(missingOfQuorum(nodes, [says('leader', 2), says('follower', 2), alone])).toEqual(['z3 has no leader']);
  expect(missingOfQuorum(nodes, [says('leader', 2), says('follower', 2), says('follower', 1)])).toEqual([
    'z3 does not follow z1',
  ]);
});

it('reads what a server says of itself, and what it does not', () => {
  const told = 'Zookeeper version: 3.8.0-5a02a05, built on 2023\nLatency min/avg/max: 0/0.0/0\nMode: leader\n';
  expect(stateIn(told)).toEqual({ serving: { version: '3.8.0', mode: 'leader' } });
  expect(stateIn('This ZooKeeper instance is not currently serving requests\n')).toEqual({});
  expect(() => stateIn('')).toThrow('it does not tell its state');
  expect(() => stateIn('srvr is not executed because it is not in the whitelist.')).toThrow('not in the whitelist');
});

describe('what runs it', () => {
  let folder: string;
  const path = process.env.PATH;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'zookeeper-test-'));
  });
  afterEach(() => {
    process.env.PATH = path;
    rmSync(folder, { recursive: true, force: true });
  });
  const has = (...names: string[]) => {
    for (const name of names) writeFileSync(join(folder, name), '');
  };

  it('is a release, without what would log all that it does', () => {
    mkdirSync(join(folder, 'lib'));
    has('lib/zookeeper-3.9.3.jar', 'lib/zookeeper-jute-3.9.3.jar', 'lib/logback-classic-1.2.13.jar', 'lib/LICENSE');
    const jars = ['zookeeper-3.9.3.jar', 'zookeeper-jute-3.9.3.jar'].map((name) => join(folder, 'lib', name));
    expect(jarsOf(folder)).toEqual(jars);
    expect(jarsOf(join(folder, 'lib', 'zookeeper-3.9.3.jar'))).toEqual(jars);
  });

  it('is a few of all the jars that a distribution has in one folder', () => {
    const own = ['zookeeper', 'zookeeper-jute', 'slf4j-api', 'slf4j-simple', 'metrics-core', 'snappy-java'];
    has(...own.map((name) => `${name}.jar`), 'maven-core.jar');
    expect(jarsOf(join(folder, 'zookeeper.jar'))).toEqual(own.map((name) => join(folder, `${name}.jar`)));
  });

  it('is nothing else', () => {
    has('zookeeper-jute.jar', 'other.jar');
    expect(jarsOf(join(folder, 'other.jar'))).toEqual([]);
    expect(jarsOf(folder)).toEqual([]);
    expect(jarsOf(join(folder, 'nowhere'))).toEqual([]);
  });

  it('needs Java, and says so in a line', async () => {
    process.env.PATH = folder;
    const { find } = services.zookeeper;
    await expect(find({ cacheFolder: folder, say: () => {} })).rejects.toThrow(
      /^ZooKeeper needs Java, and java is not on PATH: install .*default-jre-headless\)$/,
    );
    await expect(find({ explicit: 'etcd@3.5', cacheFolder: folder, say: () => {} })).rejects.toThrow(
      '--server etcd@3.5 is no ZooKeeper',
    );
  });
});
