/** The pages that are made from the code that runs, below docs/. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { causesPage } from './causes-page.js';
import { checkersPage } from './checkers-page.js';
import { faultsPage } from './faults-page.js';
import { librariesPage } from './libraries-tables.js';
import { protocolPage } from './protocol-page.js';
import { readmePage } from './readme-page.js';
import { resultsSchemaPage } from './results-schema.js';
import { scenariosPage } from './scenarios-page.js';
import { whichLockPage } from './which-lock-page.js';

const pages: Readonly<Record<string, (path: string) => string | Promise<string>>> = {
  'causes.md': causesPage,
  'checkers.md': () => checkersPage(),
  'faults.md': faultsPage,
  'protocol.md': protocolPage,
  'published-libraries.md': (path) => librariesPage(path),
  'results.schema.json': resultsSchemaPage,
  'scenarios.md': scenariosPage,
  'which-lock.md': (path) => whichLockPage(path),
  '../README.md': (path) => readmePage(path),
};

/** Makes them anew; `names`: only those. */
export async function writePages(names: readonly string[] = Object.keys(pages)): Promise<void> {
  for (const name of names) {
    // From dist/cli/docs/ to the project's own docs/.
    const path = fileURLToPath(new URL(`../../../docs/${name}`, import.meta.url));
    writeFileSync(path, await pages[name]!(path));
    process.stdout.write(`wrote ${path}\n`);
  }
}
