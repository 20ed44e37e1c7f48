import { expect, it } from 'vitest';
import { StepStops } from '../../../../harness/run/step-stops.js';
import { createRandom } from '../../../../harness/runtimes/random.js';

const stops = () => new StepStops(createRandom(1));

it('asks nobody to stop of whom nobody asked it', () => {
  const asked = stops();
  expect(asked.next('c1')).toBeUndefined();
  asked.ask('granted', 'c2');
  expect(asked.next('c1')).toBeUndefined();
  expect(asked.next('c2')).toBe('granted');
});

it('asks whoever comes where no slot is named, until it is taken back', () => {
  const asked = stops();
  const takeBack = asked.ask('granted');
  expect([asked.next('c1'), asked.next('c2'), asked.next('c1')]).toEqual(['granted', 'granted', 'granted']);
  takeBack();
  expect(asked.next('c1')).toBeUndefined();
});

it('of several steps asks now for one and now for another: one may never be reached', () => {
  const asked = stops();
  asked.ask('granted');
  asked.ask('released', 'c1');
  expect(new Set(Array.from({ length: 50 }, () => asked.next('c1')))).toEqual(new Set(['granted', 'released']));
  expect(new Set(Array.from({ length: 50 }, () => asked.next('c2')))).toEqual(new Set(['granted']));
});

it('keeps two that ask for the same apart', () => {
  const asked = stops();
  const takeBack = asked.ask('granted');
  asked.ask('granted');
  takeBack();
  expect(asked.next('c1')).toBe('granted');
});
