/** All benchmarks, by their names. */
import { benchAccept } from './accept.js';
import { benchAims } from './aims.js';
import { benchCheckers } from './checkers.js';
import { benchConfirm } from './confirm.js';
import { benchConform } from './conform.js';
import { benchFailovers } from './failovers.js';
import { benchHistory } from './history.js';
import { benchHunt } from './hunt.js';
import { benchJudges } from './judges.js';
import { benchPackage } from './package.js';
import { benchPicture } from './picture.js';
import { benchPlain } from './plain.js';
import { benchPower } from './power.js';
import { benchReady } from './ready.js';
import { benchScenarios } from './scenarios.js';
import { benchServices } from './services.js';
import { benchShrink } from './shrink.js';
import { benchStarts } from './starts.js';

export const benchmarks: Record<string, { summary: string; run(argv: string[]): Promise<void> }> = {
  ready: { summary: 'how fast a deployment is ready, and what recording costs', run: benchReady },
  starts: { summary: 'how long six clients of a lock take to start: --lock redisson/rlock', run: benchStarts },
  judges: {
    summary: 'whether Porcupine decides every key of the recorded runs as the linearizability checker does',
    run: benchJudges,
  },
  package: {
    summary: 'size, packages and time of an installation, and the time to a first verdict in an empty folder',
    run: benchPackage,
  },
  history: { summary: 'time and memory to read a long run back, and to judge and report it', run: benchHistory },
  picture: { summary: "the README's picture of a report, made anew in Chromium", run: benchPicture },
  plain: { summary: 'what a plain run comes to, and what it costs to keep, judge and report it', run: benchPlain },
  hunt: {
    summary: 'schedules in virtual time per second of the processors, and whether each is the same in another process',
    run: benchHunt,
  },
  power: {
    summary:
      'how many canaries are found in virtual time, after how many schedules, and whether sound locks are cleared',
    run: benchPower,
  },
  shrink: {
    summary:
      'whether planted mistakes that take one fault, or two, are shrunk to no more of them, in how many executions',
    run: benchShrink,
  },
  aims: {
    summary: 'in how many schedules a lock that is wrong for a moment is found, with aimed faults and without',
    run: benchAims,
  },
  confirm: {
    summary: 'how often real servers show what was found in virtual time, by kind of finding',
    run: benchConfirm,
  },
  failovers: {
    summary: 'whether failovers take as long in virtual time as on real servers',
    run: benchFailovers,
  },
  accept: {
    summary:
      'how many plain runs say what they must, by area (accept truth, blame, plain, faults, languages or services), and whether a campaign survives being killed (accept campaign)',
    run: benchAccept,
  },
  conform: {
    summary: 'whether the adapters of libraries of other languages tell the truth, each by half a minute of conform',
    run: benchConform,
  },
  scenarios: {
    summary: 'whether every scenario goes as written on every server that can be had by its name',
    run: benchScenarios,
  },
  services: {
    summary: 'what locks on Redis and on other services cost, side by side, as ratios to one Redis',
    run: benchServices,
  },
  checkers: { summary: 'time and memory to decide histories of locks, also those that are hard', run: benchCheckers },
};
