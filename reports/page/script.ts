/**
 * The scripts of pages, made of `reports/browser/` and the libraries that it uses, in one piece each. Bundled when the
 * first page is made (some 50 ms), so that there is nothing to keep up to date beside the sources.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

export type ScriptName = 'run' | 'runs';

const HERE = fileURLToPath(import.meta.url);
/** Files of style sheets that a script's libraries need. */
const STYLES: Record<ScriptName, readonly string[]> = { run: ['uplot/dist/uPlot.min.css'], runs: [] };

export interface Script {
  /** JavaScript that can stand in a `<script type="module">`. */
  code: string;
  style: string;
}

const made = new Map<ScriptName, Script>();

/** Throws where it cannot be made. */
export function pageScript(name: ScriptName): Script {
  const known = made.get(name);
  if (known !== undefined) return known;
  // Beside this file, compiled or not, as this one is.
  const entry = join(dirname(HERE), '../browser', `${name}${extname(HERE)}`);
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
    absWorkingDir: dirname(HERE),
  });
  const { resolve } = createRequire(import.meta.url);
  const script = {
    code: outputFiles[0]!.text.replaceAll('</script', '<\\/script').trim(),
    style: STYLES[name].map((file) => readFileSync(resolve(file), 'utf8').trim()).join(''),
  };
  made.set(name, script);
  return script;
}
