// While the tool's image is built: sees that what is not JavaScript among its packages runs here, and fetches what does not.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const missing = [];
const esbuild = JSON.parse(readFileSync('node_modules/esbuild/package.json', 'utf8')).version;
try {
  execFileSync(process.execPath, ['-e', "require('esbuild').transformSync('1')"], { stdio: 'ignore' });
} catch {
  missing.push(`esbuild@${esbuild}`);
}
const parts = `@lock-torture/linux-${process.arch}`;
if (!existsSync(`node_modules/${parts}`)) missing.push(`${parts}@${version}`);
if (missing.length > 0) {
  process.stdout.write(`fetching ${missing.join(', ')}\n`);
  const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock'];
  execFileSync('npm', ['install', ...options, ...missing], { stdio: 'inherit' });
}
