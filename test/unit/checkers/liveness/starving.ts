/** A lock that no client holds and some ask for in vain: what the tests of `starved`, and of who was in the way, have in common. */
import type { Deadlines } from '../../../../harness/vocabulary/protocol.js';
import { KEY, LEASE_MS, Story } from '../build.js';

export const QUEUE = `{${KEY}}:tickets`;

/** What samples of some nodes show from `from` on. */
interface Stored {
  from: number;
  owner?: string;
  pttlMs?: number;
  on?: string[];
}

/** Servers of the run's own, watched from the beginning; c1 holds from 1 s to 2 s. */
export function begun(nodes = ['r1'], deadlines?: Deadlines, stored: Stored = { from: 99 }): Story {
  const story = new Story();
  const deployed = { topology: 'single', runtime: 'netns', serverVersion: '7.0.15', settings: [] };
  if (nodes.length === 1) story.event(0, { type: 'deployment', ...deployed });
  else story.independent(nodes.length);
  for (const client of ['c1', 'c2', 'c3'])
    story.event(0.1, {
      type: 'client-up',
      client,
      slot: client,
      host: client,
      address: '10.77.0.9',
      lock: 'any',
      features: [],
      ...(deadlines && { deadlines }),
    });
  for (const node of nodes) story.watch(0.2, node);
  const { from, owner = '', pttlMs = -1, on = nodes } = stored;
  for (let at = 0.5; at < 25; at += 0.5)
    for (const node of nodes) story.sample(at, node, at > from && on.includes(node) ? { owner, pttlMs } : {});
  return story.grant('c1', 1).release('c1', 2);
}

/** One request of a lock with a queue of tickets: what it looks at. */
export function asksInQueue(story: Story, at: number, client: string, ticket: string, isNew = false): Story {
  story.command(at, 'r1', client, ['EVAL', 'script', '2', KEY, QUEUE, ticket, String(LEASE_MS)]);
  story.command(at, 'r1', 'lua', ['lpos', QUEUE, ticket]);
  if (isNew) story.command(at, 'r1', 'lua', ['rpush', QUEUE, ticket]);
  story.command(at, 'r1', 'lua', ['exists', KEY]);
  return story.command(at, 'r1', 'lua', ['lindex', QUEUE, '0']);
}

/** c2 is to have it from `from` on, is refused at `until`, and asks twice a second. */
export function wants(story: Story, until = 20, from = 6, ask = asksInQueue): Story {
  story.refused('c2', from, until);
  for (let at = from + 0.01; at < until; at += 0.5) ask(story, at, 'c2', 'ticket-of-c2', at < from + 0.1);
  return story;
}

/** c3 queued at 3 s, and gave up at 4 s. */
export const abandoned = (story = begun()) => asksInQueue(story, 3.1, 'c3', 'ticket-of-c3', true).refused('c3', 3, 4);

/** What asks for a lock that is one string. */
export const asksSet = (story: Story, at: number, client: string) =>
  story.command(at, 'r1', client, ['SET', KEY, `of-${client}`, 'PX', String(LEASE_MS), 'NX']);
