/**
 * The scripts of pages, made of `reports/browser/` and the libraries that it uses, in one piece each. Set-up bundles them, beside
 * what they are compiled to (`bin/bundle.mjs`); where this runs from the sources they are bundled when the first page is made.
 */
import { existsSync, readFileSync } from 'node:fs';
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
  const { resolve } = createRequire(import.meta.url);
  const script = {
    code: codeOf(join(dirname(HERE), '../browser', name))
      .replaceAll('</script', '<\\/script')
      .trim(),
    style: STYLES[name].map((file) => readFileSync(resolve(file), 'utf8').trim()).join(''),
  };
  made.set(name, script);
  return script;
}

function codeOf(entry: string): string {
  const bundled = `${entry}.page.js`;
  if (existsSync(bundled)) return readFileSync(bundled, 'utf8');
  const { outputFiles } = buildSync({
    // Compiled or not, as this file is.
    entryPoints: [`${entry}${extname(HERE)}`],
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
  return outputFiles[0]!.text;
}
