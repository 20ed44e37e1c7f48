#!/usr/bin/env node
// The command: makes sure that there is something to run, then runs it in this same process, so that between the
// terminal and the tool there is nothing else that could be killed apart from it.

import { setUpOrExit } from './setup.mjs';

await setUpOrExit();
const { main } = await import('../dist/harness/cli/main.js');
process.exit(await main(process.argv.slice(2)));
