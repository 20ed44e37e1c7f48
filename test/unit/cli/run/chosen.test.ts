/** What may be chosen of a lock, and one line for each choice that cannot be had, before anything is fetched. */
import { describe, expect, test } from 'vitest';
import { LockSpecError } from '../../../../cli/run/bundle.js';
import { havingVersion, otherVersion, registered, unpinnedNote, whyNotChosen } from '../../../../cli/run/chosen.js';
import { mustBeLock } from '../../../../cli/run/lock-at-hand.js';
import { NoSuchVersionError } from '../../../../harness/machine/external-project.js';

describe('what can be had', () => {
  test.each([
    'set-nx-px',
    'redisson/rlock',
    'redisson/rlock@3.16.4',
    'redisson/rlock@3.20.0:lock',
    'redisson/rlock@4.7.0:tryLock-wait-lease',
    'redisson/semaphore@3.15.6',
    'go/redislock@v0.9.3',
    'third-party/redlock-5@5.0.0-beta.1:using-lease',
    'third-party/redlock-4@4.1.0',
  ])('%s', (spec) => {
    expect(whyNotChosen(spec)).toBeUndefined();
    expect(() => mustBeLock(spec)).not.toThrow();
  });

  test('files and programs are not looked into', () => {
    for (const spec of ['./my@2.0/lock.ts', 'cmd:./client --at x:y']) expect(() => mustBeLock(spec)).not.toThrow();
  });
});

const FORMS = 'tryLock-wait-lease, lock, lock-lease, tryLock, tryLock-wait';

describe('what cannot, in one line', () => {
  test.each([
    ['redisson/rlock:lok', `no form "lok"; did you mean lock? there are ${FORMS}`],
    ['redisson/rlock:lock(lease)', `no form "lock(lease)"; did you mean lock-lease? there are ${FORMS}`],
    ['redisson/rlock:trylock-wait', `no form "trylock-wait"; did you mean tryLock-wait? there are ${FORMS}`],
    ['redisson/rlock:lock@3.16.4', 'the version comes first: redisson/rlock@3.16.4:lock'],
    ['redisson/rlock:', `no form ""; there are ${FORMS}`],
    [
      'redisson/semaphore:lock',
      'redisson/semaphore is called in one form (acquire(wait, lease), release()): leave out :lock',
    ],
    [
      'redisson/rlock@latest',
      '"latest" is no version of org.redisson:redisson; write a whole one, as in redisson/rlock@3.16.4',
    ],
    ['redisson/rlock@', '"" is no version of org.redisson:redisson; write a whole one, as in redisson/rlock@3.16.4'],
    ['set-nx-px@1.2.3', 'set-nx-px comes with this tool and has no versions: leave out @1.2.3'],
    ['third-party/redlock-5@4.2.0', 'third-party/redlock-5 is for versions 5.x of redlock'],
  ])('%s', (spec, why) => {
    expect(whyNotChosen(spec)).toBe(`--lock ${spec}: ${why}`);
    expect(() => mustBeLock(spec)).toThrow(why);
  });

  test('an unknown name is told by itself', () => {
    expect(whyNotChosen('redison/rlock@3.16.4')).toBeUndefined();
    expect(() => mustBeLock('redison/rlock@3.16.4')).toThrow(
      'unknown lock "redison/rlock"; did you mean redisson/rlock?',
    );
    expect(registered('constructor@1.0')).toBeUndefined();
  });
});

test('another version than the default one takes its place, and is said to be unpinned where it is', () => {
  const ofRedisson = (version: string) => ({ library: 'org.redisson:redisson', version });
  expect(otherVersion('redisson/fair@3.16.4:lock')).toEqual(ofRedisson('3.16.4'));
  expect(otherVersion('redisson/fair@3.20.0')).toEqual(ofRedisson('3.20.0'));
  for (const spec of ['redisson/rlock', 'redisson/rlock@4.7.0', 'redisson/rlock:lock', 'set-nx-px', './x@1.2.ts'])
    expect(otherVersion(spec), spec).toBeUndefined();
  for (const spec of [
    'redisson/rlock',
    'redisson/rlock@4.7.0',
    'redisson/rlock@3.15.6',
    'third-party/redlock-5@5.0.0-beta.1',
  ])
    expect(unpinnedNote(spec), spec).toBeUndefined();
  expect(unpinnedNote('redisson/rlock@3.20.0')).toBe(
    'note: org.redisson:redisson 3.20.0 is not pinned: no checksum of what is downloaded is kept here',
  );
});

test('a version that the registry does not have is told with those that are pinned; other errors pass', async () => {
  const none = havingVersion('redisson/rlock@3.16', Promise.reject(new NoSuchVersionError('the registry has no 3.16')));
  await expect(none).rejects.toThrow(LockSpecError);
  await expect(none).rejects.toThrow(
    '--lock redisson/rlock@3.16: the registry has no 3.16; did you mean 3.16.4? (pinned: 4.7.0, 3.16.4, 3.15.6)',
  );
  const far = havingVersion('third-party/redlock-4@4.9.9', Promise.reject(new NoSuchVersionError('it has none')));
  await expect(far).rejects.toThrow(/^--lock third-party\/redlock-4@4\.9\.9: it has none$/);
  await expect(havingVersion('redisson/rlock@3.16.4', Promise.reject(new TypeError('a bug')))).rejects.toThrow(
    TypeError,
  );
  await expect(havingVersion('redisson/rlock@3.16.4', Promise.resolve(1))).resolves.toBe(1);
});
