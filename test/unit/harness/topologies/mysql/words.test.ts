/** What servers of MySQL and MariaDB say of who wrote what they have. */
import { describe, expect, it, test } from 'vitest';
import { MARIADB } from '../../../../../harness/topologies/mysql/mariadb-words.js';
import { MYSQL } from '../../../../../harness/topologies/mysql/mysql-words.js';

const uuid = (server: number) => `00000000-0000-0000-0000-${String(server).padStart(12, '0')}`;

describe('MySQL', () => {
  const state = (isReplica: number, server: number, executed: string) =>
    MYSQL.stateIn({ is_replica: isReplica, server, executed });

  it('is a primary by its own number, whoever wrote before it', () => {
    expect(state(0, 3, '')).toMatchObject({ role: 'primary', term: 3, writer: undefined });
    expect(state(0, 3, `${uuid(1)}:1-57`)).toMatchObject({ role: 'primary', term: 3, writer: 1 });
    expect(state(0, 3, `${uuid(1)}:1-57,\n${uuid(3)}:1`)).toMatchObject({ term: 3, writer: 3 });
  });

  it('is a replica by the number of whose writes it had last, in whatever order they stand', () => {
    expect(state(1, 2, '')).toMatchObject({ role: 'replica', term: 0 });
    expect(state(1, 4, `${uuid(10)}:1-2,\n${uuid(3)}:1-57`)).toMatchObject({ role: 'replica', term: 10 });
  });

  it('counts what was written by all, and what was received and not carried out', () => {
    expect(MYSQL.written('')).toBe(0);
    expect(MYSQL.written(`${uuid(1)}:1-57,\n${uuid(3)}:1`)).toBe(58);
    expect(MYSQL.written(`${uuid(1)}:1-57`, `${uuid(1)}:40-60`)).toBe(60);
    expect(MYSQL.written(`${uuid(1)}:1-57`, `${uuid(1)}:40-50`)).toBe(57);
    expect(MYSQL.written(`${uuid(1)}:1-57`, '')).toBe(57);
  });

  it('names a server by its number, so that a copy is another one than what it was copied from', () => {
    expect(MYSQL.files(12)).toEqual({ 'auto.cnf': `[auto]\nserver-uuid=${uuid(12)}\n` });
  });
});

describe('MariaDB', () => {
  const positions = { followed: '0-1-57', written: '0-1-57', current: '0-1-57' };

  it('is a primary by its own number, and a replica by that of whose writes it had last', () => {
    expect(MARIADB.stateIn({ is_replica: 0, server: 3, ...positions })).toMatchObject({
      role: 'primary',
      term: 3,
      writer: 1,
    });
    expect(MARIADB.stateIn({ is_replica: 1, server: 3, ...positions })).toMatchObject({ role: 'replica', term: 1 });
    const nothing = { followed: '', written: '', current: '' };
    expect(MARIADB.stateIn({ is_replica: 1, server: 3, ...nothing })).toMatchObject({ role: 'replica', term: 0 });
  });

  it('counts by the last number, and by what was received where it says so', () => {
    expect(MARIADB.written('0-1-57')).toBe(57);
    expect(MARIADB.written('0-1-57', '0-1-60')).toBe(60);
    expect(MARIADB.written('')).toBe(0);
  });
});

test.each([MYSQL, MARIADB])('a replica of $name is told whom to follow in two lines', (flavour) => {
  const told = flavour.toFollow({ host: '10.0.0.2', port: 3306, user: 'operator', password: 'secret' });
  expect(told.trim().split('\n')).toHaveLength(2);
  for (const word of ["'10.0.0.2'", '3306', "'operator'", "'secret'"]) expect(told).toContain(word);
});
