// The command, for a Node that is new enough: makes sure that there is something to run, then runs it in this same process, so
// that between the terminal and the tool there is nothing else that could be killed apart from it.

import { setUpOrExit } from './setup.mjs';
import { watchNpm } from './watch-npm.mjs';

// First of all: set-up, too, must not go on for somebody who is gone. What runs inside a run ends with this process.
watchNpm(() => {
  process.stderr.write('lock-torture: npm was killed; what a run had recorded can be checked (check latest)\n');
  process.exit(3);
});

await setUpOrExit();
const { main } = await import('../dist/cli/main.js');
process.exit(await main(process.argv.slice(2)));
