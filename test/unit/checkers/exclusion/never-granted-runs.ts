/**
 * Runs in which three grants of two clients show how the lock stores them, and one more that a client claims: what the tests of
 * `never-granted`, and of all that it is proven by, have in common.
 */
import { expect } from 'vitest';
import { neverGrantedHolds } from '../../../../checkers/exclusion/never-granted.js';
import type { CauseName } from '../../../../harness/vocabulary/verdict.js';
import { KEY, Story } from '../build.js';

const MS = 0.001;

/** The lock of a SET NX with an owner for each hold: held from `at` for half a second. */
export function held(
  story: Story,
  client: string,
  at: number,
  { nodes = ['r1'], key = KEY, value = `${client}@${at}` } = {},
) {
  story.grant(client, at);
  for (const node of nodes) story.command(at - MS, node, client, ['SET', key, value, 'PX', '5000', 'NX']);
  story.release(client, at + 0.5);
  for (const node of nodes) {
    story.command(at + 0.501, node, client, ['EVAL', 'script', '1', key, value]);
    story.command(at + 0.501, node, 'lua', ['get', key]).command(at + 0.501, node, 'lua', ['del', key]);
  }
  return story;
}

/** Three grants of two clients show how the lock stores; at 4.5 s c2 says that it holds, until 6 s. */
export function run(nodes = ['r1'], story = new Story()): Story {
  for (const client of ['c1', 'c2', 'c3']) story.up(client);
  for (const node of nodes) {
    story.watch(0, node);
    for (const at of [0.5, 1.75, 2.75, 3.75, 7, 8]) story.sample(at, node);
  }
  held(story, 'c1', 1, { nodes });
  held(story, 'c2', 2, { nodes });
  held(story, 'c1', 3, { nodes });
  return story.grant('c2', 4.5).release('c2', 6);
}

/** c1 holds, and is stored, from 4 s until 6.4 s, when it removes its value. */
export function beside(story: Story, nodes = ['r1'], value = 'c1@4'): Story {
  story.grant('c1', 4).release('c1', 6.4);
  for (const node of nodes)
    story
      .take(4 - MS, node, 'c1', value)
      .sample(4.3, node, { owner: value, pttlMs: 4_699 })
      .unlock(6.401, node, 'c1', value);
  return story;
}

export function found(story: Story, named: CauseName = 'never-granted'): string[] {
  const input = story.input();
  const { violations } = neverGrantedHolds.check(input);
  for (const { cause, evidence } of violations) {
    expect(cause.name).toBe(named);
    for (const line of evidence) expect(input.history.event(line)).toBeDefined();
    for (const { history, observation } of cause.chain) {
      if (history !== undefined) expect(input.history.event(history)).toBeDefined();
      if (observation !== undefined) expect(input.observations.line(observation)).toBeDefined();
    }
  }
  return violations.map(({ holds: [hold] }) => `${hold!.client} at ${hold!.fromNs / 1e9}`);
}

export const SECOND_OF_C2 = ['c2 at 4.5'];
