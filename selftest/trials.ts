/** Every canary with the torture that shows its mistake. */
import type { Trial } from './trial.js';
import { lettingGoTrials } from './trials/letting-go.js';
import { renewingTrials } from './trials/renewing.js';
import { severalServersTrials } from './trials/several-servers.js';
import { sharingTrials } from './trials/sharing.js';
import { takingTrials } from './trials/taking.js';
import { waitingTrials } from './trials/waiting.js';

export const trials: readonly Trial[] = [
  ...takingTrials,
  ...lettingGoTrials,
  ...renewingTrials,
  ...severalServersTrials,
  ...waitingTrials,
  ...sharingTrials,
];
