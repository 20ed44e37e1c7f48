/** Runs of the model in which a cause was false once: each is played again as it was drawn. */
import { expect, it } from 'vitest';
import { judged } from './oracle/judged.js';
import { play, type Setup } from './oracle/run.js';

const found: [what: string, setup: Setup][] = [
  [
    'a line that was read after a look at a clock which had jumped meanwhile, and was right again',
    {
      kind: 'replicated',
      nodes: 2,
      clients: 2,
      program: {
        form: 'counted-apart',
        leaseMs: 1000,
        ttlFactor: 0.85,
        owner: 'attempt',
        releases: 'compared',
        renews: 'never',
        quorum: 1,
        refusalsIgnored: 0,
        counter: 'kept',
        asksAgain: false,
        worksLeast: 0.2,
        worksMost: 1.9,
        retryMs: 60,
      },
      older: {},
      faults: [
        { kind: 'jump', afterGrants: 5, delayMs: 0, forMs: 1468, whom: 9, much: -1500, lags: false, stays: true },
        {
          kind: 'jump-and-back',
          afterGrants: 3,
          delayMs: 0,
          forMs: 1627,
          whom: 7,
          much: 3000,
          lags: false,
          stays: true,
        },
      ],
      gaps: {
        sampleEveryMs: 300,
        lostAtKillMs: 50,
        blindAfterStartMs: 30,
        latePerMille: 100,
        lateMs: 300,
        unrecordedPerMille: 0,
        neverWatched: [],
        breaks: [{ node: 1, atMs: 326, forMs: 321 }],
      },
      savesEveryMs: 0,
      lengthMs: 3000,
      noise: 1836835386,
    },
  ],
  [
    "a refusal by one's own key of an earlier try, under another value, that was taken for a yes",
    {
      kind: 'replicated',
      nodes: 1,
      clients: 2,
      program: {
        form: 'get-set',
        leaseMs: 1000,
        ttlFactor: 1,
        owner: 'attempt',
        releases: 'compared',
        renews: 'never',
        quorum: 1,
        refusalsIgnored: 50,
        counter: 'kept',
        asksAgain: false,
        worksLeast: 0.2,
        worksMost: 0.8,
        retryMs: 20,
      },
      older: {},
      faults: [
        { kind: 'cut-client', afterGrants: 5, delayMs: 224, forMs: 538, whom: 7, much: 900, lags: false, stays: true },
      ],
      gaps: {
        sampleEveryMs: 100,
        lostAtKillMs: 0,
        blindAfterStartMs: 0,
        latePerMille: 0,
        lateMs: 0,
        unrecordedPerMille: 0,
        neverWatched: [],
        breaks: [],
      },
      savesEveryMs: 0,
      lengthMs: 3000,
      noise: 26,
    },
  ],
];

it.each(found)('%s', (_, setup) => {
  const isFalse = judged(play(setup)).filter(({ name, truth }) => name !== 'unexplained' && !truth.has(name));
  expect(isFalse.map(({ name, truth }) => `${name}, but ${[...truth].join(', ')}`)).toEqual([]);
});
