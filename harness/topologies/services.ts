/** The services that locks are tortured on: each by its driver. */
import { findRedis, findRedisHere, findRedisInImage } from '../machine/redis-binary.js';
import type { Service, ServiceName } from '../vocabulary/topology.js';
import { cluster } from './cluster.js';
import { etcd } from './etcd/etcd.js';
import { redlock, single } from './independent.js';
import { mongodb } from './mongodb/mongodb.js';
import { mariadb } from './mysql/mariadb.js';
import { mysql } from './mysql/mysql.js';
import { postgres } from './postgres/postgres.js';
import { redlockSentinel } from './redlock-sentinel.js';
import { replica } from './replica.js';
import { sentinel } from './sentinel.js';
import { zookeeper } from './zookeeper/zookeeper.js';

/** Valkey too, which takes the same settings and commands: `--server` says which. */
const redis: Service = {
  name: 'redis',
  title: 'Redis',
  topologies: { single, replica, sentinel, cluster, redlock, 'redlock-sentinel': redlockSentinel },
  find: findRedis,
  findHere: findRedisHere,
  // Whoever names an image for Redis means the server in it, and no other.
  inContainers: {
    image: 'redis:7.4',
    programs: ['redis-server', 'valkey-server'],
    packages: [],
    find: findRedisInImage,
  },
};

export const services: Readonly<Record<ServiceName, Service>> = {
  redis,
  etcd,
  zookeeper,
  postgres,
  mariadb,
  mysql,
  mongodb,
};
