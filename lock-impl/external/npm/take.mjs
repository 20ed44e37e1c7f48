/**
 * `node take.mjs LIBRARY VERSION`: a project of npm that wants that version alone. Where `pins/` has a lock file of it, with slashes of
 * its name as hyphens, what is downloaded must be what that says, to the byte.
 */
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';

const [library, version] = process.argv.slice(2);
writeFileSync('package.json', JSON.stringify({ name: 'library', private: true, dependencies: { [library]: version } }));
const pinned = `pins/${library.replaceAll('/', '-')}@${version}.json`;
if (existsSync(pinned)) copyFileSync(pinned, 'package-lock.json');
