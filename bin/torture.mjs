#!/usr/bin/env node
// The command. What follows is loaded only by a Node that can read it: an older one would end with a SyntaxError of ours.

import { reportUncaught, surviveLostOutput } from './last-resort.mjs';
import { nodeTooOld } from './node-version.mjs';

const tooOld = nodeTooOld();
if (tooOld) {
  process.stderr.write(`lock-torture: ${tooOld}\n`);
  process.exit(3);
}
// Before anything else is loaded: that may fail, too.
surviveLostOutput();
reportUncaught();
void import('./start.mjs');
