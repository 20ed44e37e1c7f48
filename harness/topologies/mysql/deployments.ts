/** MySQL or MariaDB: one server, or a primary with a replica that is told of a commit after it was answered, or before (semi-synchronous). */
import type { TopologyKind } from '../../vocabulary/topology.js';
import { databaseKind } from '../primary-replica.js';
import { LOCK_USER } from './admin.js';
import type { Flavour } from './flavour.js';
import { MysqlServer } from './server.js';
import { mysqlSettings } from './sql.js';

const TWO = ['d1', 'd2'];

/** By what flags call them; `title`: as people call the database. */
export function deployments(flavour: Flavour, title: string): Record<string, TopologyKind> {
  const kind = (name: string, servers: readonly string[], synchronous: boolean, summary: string) =>
    databaseKind<MysqlServer>({
      name,
      service: flavour.name,
      title,
      summary,
      servers,
      waitsForReplica: synchronous,
      defaultLock: `${flavour.name}-row`,
      parts(password, { redis: binary, clock }) {
        let last = 0;
        return {
          user: LOCK_USER,
          settings: mysqlSettings(flavour, synchronous).map((setting) => ({ where: flavour.name, ...setting })),
          server: (host, primary) =>
            new MysqlServer({ host, binary, clock, flavour, password, synchronous, primary, nextNumber: () => ++last }),
          prepareDatabase: (primary) => primary.prepareDatabase(),
        };
      },
    });
  const { name } = flavour;
  return {
    'primary-replica': kind(name, TWO, false, `a ${title} primary and a replica that it does not wait for`),
    'primary-replica-semi-sync': kind(
      `${name}-semi-sync`,
      TWO,
      true,
      `a ${title} primary whose commits wait until its replica has them`,
    ),
    single: kind(`${name}-single`, TWO.slice(0, 1), false, `one ${title} server`),
  };
}
