/** Services beside Redis, as records and clients name them. */
import type { OtherService } from '../../vocabulary/topology.js';

/** What people call each. */
export const TITLES: Readonly<Record<OtherService, string>> = {
  etcd: 'etcd',
  zookeeper: 'ZooKeeper',
  postgres: 'PostgreSQL',
  mariadb: 'MariaDB',
  mysql: 'MySQL',
  mongodb: 'MongoDB',
};

export const OTHER_SERVICES = Object.keys(TITLES) as OtherService[];
