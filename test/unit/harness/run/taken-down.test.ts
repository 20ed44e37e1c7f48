import { expect, it } from 'vitest';
import { takenDown } from '../../../../harness/run/taken-down.js';

const part = (down: () => Promise<void>): AsyncDisposable => ({ [Symbol.asyncDispose]: down });
const stuck = part(() => Promise.reject(new Error('ip: timed out\n    at somewhere')));

it('takes a part down, and says nothing where that works', async () => {
  const said: string[] = [];
  let isDown = false;
  {
    const down = async () => {
      isDown = true;
    };
    await using _part = takenDown('the part', part(down), (line) => said.push(line));
    expect(isDown).toBe(false);
  }
  expect(isDown).toBe(true);
  expect(said).toEqual([]);
});

it('says in one line what could not be taken down, and takes the others down', async () => {
  const said: string[] = [];
  const downs: string[] = [];
  const run = async () => {
    await using _first = takenDown(
      'the first',
      part(async () => void downs.push('first')),
      (line) => said.push(line),
    );
    await using _second = takenDown('the second', stuck, (line) => said.push(line));
    return 'a result';
  };
  expect(await run()).toBe('a result');
  expect(said).toEqual(['the second could not be taken down: ip: timed out']);
  expect(downs).toEqual(['first']);
});

it('keeps the error that ended the run', async () => {
  const run = async () => {
    await using _part = takenDown('the part', stuck, () => {});
    throw new Error('the disk is full');
  };
  await expect(run()).rejects.toThrow(/^the disk is full$/);
});
