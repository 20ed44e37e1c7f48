/** `name[@version][:form]`, there and back, and nothing in it that a shell would take for something else. */
import { expect, test } from 'vitest';
import { externalLocks } from '../../../lock-impl/external/index.js';
import { locks } from '../../../lock-impl/index.js';
import { callOf, isVersion, parseLockSpec, typedForm, writeLockSpec } from '../../../lock-impl/lock-spec.js';

test.each([
  ['set-nx-px', { name: 'set-nx-px' }],
  ['redisson/rlock@3.16.4', { name: 'redisson/rlock', version: '3.16.4' }],
  ['redisson/rlock:lock-lease', { name: 'redisson/rlock', form: 'lock-lease' }],
  ['redisson/rlock@3.16.4:lock', { name: 'redisson/rlock', version: '3.16.4', form: 'lock' }],
  ['redisson/rlock:lock@3.16.4', { name: 'redisson/rlock', form: 'lock@3.16.4' }],
  ['redisson/rlock@', { name: 'redisson/rlock', version: '' }],
  ['redisson/rlock:', { name: 'redisson/rlock', form: '' }],
  ['cmd:./a b', { name: 'cmd', form: './a b' }],
  ['', { name: '' }],
] as const)('%j', (spec, parsed) => {
  expect(parseLockSpec(spec)).toEqual(parsed);
  expect(writeLockSpec(parsed)).toBe(spec);
});

test('a form is typed as its call is written', () => {
  const calls = ['tryLock(wait, lease)', 'lock()', 'lock(lease)', 'tryLock()', 'tryLock(wait)'];
  const typed = ['tryLock-wait-lease', 'lock', 'lock-lease', 'tryLock', 'tryLock-wait'];
  expect(calls.map(typedForm)).toEqual(typed);
  expect(typed.map((form) => callOf(form, calls))).toEqual(calls);
  expect([callOf('lok', calls), callOf(undefined, calls), callOf('lock')]).toEqual([undefined, undefined, undefined]);
});

test('whole versions, and no ranges, tags, paths or options', () => {
  for (const whole of ['3.16.4', '5.0.0-beta.2', '5.0.0-beta2', 'v4.18.1', '7.5.2.RELEASE', '1.0.0+build.5', '3.16'])
    expect(isVersion(whole), whole).toBe(true);
  for (const other of [
    '',
    '5',
    'latest',
    '^5.0.0',
    '5.x',
    '../..',
    '--help',
    '3.16.4 ',
    '3.16.4/..',
    '3..4',
    '3.4-',
    '$(id)',
  ])
    expect(isVersion(other), other).toBe(false);
});

test('no name of a lock has a character of the grammar, and its choices mean nothing to a shell', () => {
  for (const [name, { calls = [], versions }] of [...Object.entries(locks), ...Object.entries(externalLocks)]) {
    expect(parseLockSpec(name)).toEqual({ name });
    for (const text of [...calls.map(typedForm), ...(versions?.alsoPinned ?? [])]) expect(text).toMatch(/^[\w.-]+$/);
    expect(new Set(calls.map(typedForm)).size).toBe(calls.length);
  }
});
