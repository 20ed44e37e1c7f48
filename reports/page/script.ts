/**
 * The scripts of pages, made of `reports/browser/` and the libraries that it uses, in one piece each. Bundled when the
 * first page is made (some 50 ms), so that there is nothing to keep up to date beside the sources.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { buildSync } from 'esbuild';

export type ScriptName = 'run' | 'runs';

const made = new Map<ScriptName, string>();

/** JavaScript that can stand in a `<script type="module">`. Throws where it cannot be made. */
export function pageScript(name: ScriptName): string {
  const known = made.get(name);
  if (known !== undefined) return known;
  // Beside this file, compiled or not, as this one is.
  const entry = join(import.meta.dirname, '..', 'browser', `${name}${extname(import.meta.filename)}`);
  const { outputFiles } = buildSync({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'ascii',
    logLevel: 'silent',
    // Found from the project, wherever the user stands.
    absWorkingDir: import.meta.dirname,
  });
  const script = outputFiles[0]!.text.replaceAll('</script', '<\\/script').trim();
  made.set(name, script);
  return script;
}

/** The style that uPlot needs. */
export function plotStyle(): string {
  return readFileSync(createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css'), 'utf8').trim();
}
