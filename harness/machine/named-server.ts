/**
 * Servers by product and version (`redis@8.0`, `valkey@9`), from the distribution's packages: the machine's own suite first,
 * then the newer ones of the same archive, with the same keys. A version stands for all that it is a prefix of.
 *
 * Excludes versions that the distribution does not carry any more: its archive has one version in each suite.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Apt, osRelease, PackageError } from './debian-packages.js';
import {
  type DownloadableProgram,
  type DownloadedProgram,
  downloadedProgram,
  downloadProgram,
  type TryProgram,
} from './downloaded-program.js';
import { privateFolder } from './private-folder.js';

interface Product {
  /** The package with its program, which has the product's version. */
  package: string;
  more?: readonly string[];
  /** Below the packages' root. */
  program: string;
  /** What else of its kind there may be, which may do instead. */
  alike?: readonly ProductName[];
}

type ProductName = 'redis' | 'valkey' | 'etcd' | 'zookeeper' | 'mariadb' | 'mysql';

const PRODUCTS: Readonly<Record<ProductName, Product>> = {
  redis: {
    package: 'redis-server',
    more: ['redis-tools'],
    program: 'usr/bin/redis-server',
    alike: ['valkey'],
  },
  valkey: {
    package: 'valkey-server',
    more: ['valkey-tools'],
    program: 'usr/bin/valkey-server',
    alike: ['redis'],
  },
  etcd: { package: 'etcd-server', program: 'usr/bin/etcd' },
  zookeeper: {
    package: 'libzookeeper-java',
    more: ['libslf4j-java', 'libdropwizard-metrics-java', 'libsnappy-java'],
    program: 'usr/share/java/zookeeper.jar',
  },
  mariadb: { package: 'mariadb-server-core', program: 'usr/sbin/mariadbd' },
  mysql: { package: 'mysql-server-core', program: 'usr/sbin/mysqld' },
};

/** What a server may be called before its version. */
export const serverProducts: readonly string[] = Object.keys(PRODUCTS);

export interface ServerName {
  product: ProductName;
  /** As the user wrote it: `8`, `8.0`, `8.0.2`. */
  version: string;
}

/** Suites with newer packages than a stable release has, by the distribution's ID; the oldest first. */
const NEWER_SUITES: Record<string, readonly string[]> = {
  debian: ['stable', 'testing', 'unstable'],
  ubuntu: ['devel'],
};

/** What `--server` names, unless it is a path. */
export function serverName(text: string): ServerName | undefined {
  const [, product, version] = /^([a-z]+)@(\d+(?:\.\d+){0,2})$/.exec(text) ?? [];
  if (product === undefined || !Object.hasOwn(PRODUCTS, product)) return undefined;
  return { product: product as ProductName, version: version! };
}

/** Whether a server of this version is one that the name stands for. */
export function isNamed({ version }: ServerName, upstream: string): boolean {
  return upstream === version || upstream.startsWith(`${version}.`);
}

/** The newest that was downloaded before; whether it (still) runs is for the caller to try. */
export function downloadedNamed(name: ServerName, cacheFolder: string): DownloadedProgram | undefined {
  if (!existsSync(cacheFolder)) return undefined;
  const versions = readdirSync(cacheFolder).flatMap((folder) => {
    const version = folder.startsWith(`${name.product}-`) ? folder.slice(name.product.length + 1) : undefined;
    return version !== undefined && isNamed(name, version) ? [version] : [];
  });
  for (const version of versions.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))) {
    const found = downloadedProgram(program(name.product, version), cacheFolder);
    if (found) return found;
  }
  return undefined;
}

/** Downloads it. Rejects as `downloadProgram` does, and with a PackageError that lists what there is if no suite has it. */
export async function downloadNamed(
  name: ServerName,
  cacheFolder: string,
  trial: TryProgram,
): Promise<DownloadedProgram> {
  using scratch = privateFolder(cacheFolder);
  const seen: string[] = [];
  let trouble = '';
  for (const suite of [undefined, ...newerSuites()]) {
    const folder = join(scratch.path, suite ?? 'own');
    mkdirSync(folder);
    const apt = new Apt(folder, suite);
    for (const product of [name.product, ...(PRODUCTS[name.product].alike ?? [])]) {
      for (const { upstream } of await apt.versions(PRODUCTS[product].package)) {
        if (product === name.product && isNamed(name, upstream))
          return await downloadProgram(program(product, upstream), cacheFolder, trial, apt);
        seen.push(`${product}@${upstream}`);
      }
    }
    trouble ||= apt.trouble;
  }
  const there = seen.length === 0 ? 'no server at all' : [...new Set(seen)].join(', ');
  throw new PackageError([`the distribution has ${there}`, trouble].filter(Boolean).join('; '));
}

function newerSuites(): readonly string[] {
  const id = /^ID="?([^"\n]*)/m.exec(osRelease())?.[1] ?? '';
  return NEWER_SUITES[id] ?? [];
}

function program(product: ProductName, version: string): DownloadableProgram {
  const { package: main, more = [], program } = PRODUCTS[product];
  return { name: `${product}-${version}`, packages: [main, ...more], program };
}
