/** What servers are in containers, and how an image is told that will do: decided without an engine. */
import { describe, expect, it, test } from 'vitest';
import { services } from '../../../../harness/topologies/services.js';
import type { ExecResult, Host } from '../../../../harness/vocabulary/host.js';

/** A host that answers every command alike. */
const saying = (stdout: string, files: readonly string[] = [], exitCode = 0) => {
  const asked: string[] = [];
  const host: Pick<Host, 'exec' | 'listFolder'> = {
    async exec(argv): Promise<ExecResult> {
      asked.push(argv.join(' '));
      if (argv[0] === 'readlink') return { exitCode: 0, stdout: `/real${argv[2]}`, stderr: '' };
      return argv[0] === 'sh'
        ? { exitCode: 0, stdout: '/opt/java/bin/java', stderr: '' }
        : { exitCode, stdout, stderr: '' };
    },
    listFolder: async () => [...files],
  };
  return { host, asked };
};

test.each(Object.values(services))(
  '$name has a published image, and says what its server is called there',
  (service) => {
    const { image, programs, packages } = service.inContainers;
    expect(image).toMatch(/^[a-z]+:[\w.-]+$/);
    for (const word of [...programs, ...packages]) expect(word).toMatch(/^[\w./*[\]-]+$/);
    expect(programs.length).toBeGreaterThan(0);
  },
);

test('only PostgreSQL refuses to be root', () => {
  const nobody = Object.values(services).filter(({ inContainers }) => inContainers.isNobody);
  expect(nobody.map(({ name }) => name)).toEqual(['postgres']);
});

describe('the server in an image', () => {
  it.each([
    ['redis', 'Redis server v=7.4.2 sha=00000000:0', '7.4.2'],
    ['etcd', 'etcd Version: 3.5.16\nGit SHA: x', '3.5.16'],
    ['postgres', 'postgres (PostgreSQL) 17.2 (Debian 17.2-1)', '17.2'],
    ['mariadb', 'mariadbd  Ver 11.8.2-MariaDB-ubu2404 for debian-linux-gnu', '11.8.2'],
    ['mysql', 'mysqld  Ver 9.7.4 for Linux on x86_64 (MySQL Community Server - GPL)', '9.7.4'],
    ['mongodb', 'db version v8.0.4', '8.0.4'],
  ] as const)('is %s, by what it says', async (name, said, version) => {
    const { host } = saying(said);
    const found = await services[name].inContainers.find(host, '/there', 'some:image');
    // A Redis is what it is called; the companions of the others lie beside the program itself.
    const path = name === 'redis' ? '/there' : '/real/there';
    expect(found).toEqual({ path, env: {}, version, origin: 'image some:image' });
  });

  it.each([
    ['redis', 'v=6.0.16', /^the server in some:image is version 6\.0\.16, which is too old: name one .* with --image$/],
    ['etcd', 'etcd Version: 3.3.1', /^\/there in the image some:image is version 3\.3\.1, which is too old: name one/],
    [
      'postgres',
      'hello',
      /^\/there in the image some:image is no PostgreSQL that runs here: name one .* with --image$/,
    ],
    [
      'mysql',
      'mysqld  Ver 11.8.2-MariaDB for Linux on x86_64',
      /^\/there in the image some:image is no MySQL that runs here/,
    ],
    ['mongodb', 'hello', /is no MongoDB that runs here: name one with MongoDB 5\.0 or newer with --image$/],
  ] as const)('of %s is refused in one line where it says %j', async (name, said, line) => {
    await expect(services[name].inContainers.find(saying(said).host, '/there', 'some:image')).rejects.toThrow(line);
  });

  it('may be a FerretDB that is called mongod', async () => {
    const { host } = saying('version: v1.24.2');
    expect((await services.mongodb.inContainers.find(host, '/there', 'some:image')).version).toBe('1.24.2');
  });
});

describe('the ZooKeeper in an image', () => {
  const { find } = services.zookeeper.inContainers;
  const told = 'Apache ZooKeeper, version 3.9.3 2024-10-17 23:21 UTC';

  it('is run by its Java, with the jars that lie beside it', async () => {
    const { host, asked } = saying(told, [
      'zookeeper-3.9.3.jar',
      'zookeeper-jute-3.9.3.jar',
      'logback-core.jar',
      'x.txt',
    ]);
    const found = await find(host, '/apache-zookeeper-3.9.3-bin/lib/zookeeper-3.9.3.jar', 'zookeeper:3.9');
    const jars = ['zookeeper-3.9.3.jar', 'zookeeper-jute-3.9.3.jar'].map(
      (name) => `/apache-zookeeper-3.9.3-bin/lib/${name}`,
    );
    expect(found).toEqual({
      path: '/opt/java/bin/java',
      env: { CLASSPATH: jars.join(':') },
      version: '3.9.3',
      origin: 'image zookeeper:3.9',
    });
    expect(asked[1]).toContain(`CLASSPATH=${jars.join(':')}`);
  });

  it('is refused in one line where it is none that runs, or too old', async () => {
    await expect(find(saying('', [], 1).host, '/z.jar', 'some:image')).rejects.toThrow(
      /^\/z\.jar in the image some:image is no ZooKeeper that \/opt\/java\/bin\/java runs .*with --image$/,
    );
    const old = saying('version 3.5.9');
    await expect(find(old.host, '/z.jar', 'some:image')).rejects.toThrow(/is version 3\.5\.9, which is too old/);
  });
});
