// Promises: each program that package.json names under `bundledPrograms` is few files instead of the hundreds that it was compiled
// to, in the same place: Node takes a millisecond to find and load a file, however small, and a run starts such programs again and
// again. Those `inOneFile` have their packages in it, too, for they run in containers, where there are none. Those `inParts` share
// what several of them need (`parts/`), and have in them what they take from large packages; the others they load as before. Those
// `forPages` are scripts of pages (`reports/page/script.ts`), in one piece each.
// What packages are in them is written down with their licences (`bundled-licences.txt`).
//
// Excludes: what is loaded by a path that is made while it runs (locks); it stays as it was compiled.
//
// Argument: the folder that was compiled to. It is used when its name is `dist`, whatever it is called now.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const compiled = resolve(process.argv[2]);
const project = fileURLToPath(new URL('..', import.meta.url));
const { bundledPrograms } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));

const language = { format: 'esm', platform: 'node', target: 'node20' };
const common = {
  ...language,
  absWorkingDir: project,
  bundle: true,
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  outdir: compiled,
  outbase: compiled,
  allowOverwrite: true,
  logLevel: 'error',
};
/** Some packages are CommonJS and ask for `require`. */
const asksForRequire =
  "import { createRequire as requireAt } from 'node:module'; const require = requireAt(import.meta.url);";
const paths = (programs = []) => programs.map((path) => join(compiled, path));

/** A module still finds what lies beside the place where it was compiled to, whatever file it is part of now. */
const knowsItsPlace = {
  name: 'knows its place',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, async ({ path }) => {
      if (!path.startsWith(`${compiled}/`)) return undefined;
      const code = await readFile(path, 'utf8');
      if (!code.includes('import.meta.url')) return undefined;
      // By the parser: in a text the words stay what they are.
      const itsOwn = await transform(code, { ...language, define: { 'import.meta.url': 'moduleUrl' } });
      const url = `new URL(${JSON.stringify(relative(compiled, path))}, compiledFolder).href`;
      return { contents: `const moduleUrl = ${url};\n${itsOwn.code}` };
    });
  },
};

/** Hundreds of files, or most of what is in them, are of no use here. What they need themselves comes with them. */
const insidePackages = new Set(['commander', 'execa', 'fast-check', 'zod']);
const otherPackagesStayOutside = {
  name: 'other packages stay outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, importer }) =>
      importer.startsWith(`${compiled}/`) && !insidePackages.has(path) ? { path, external: true } : undefined,
    );
  },
};

/** A section for each package that the bundles have in them: its name, version and licence, and the text that it comes with. */
async function licencesOf(...bundles) {
  const inputs = bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  // The innermost: a package may have brought another version of one along.
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
  const sections = [...folders].sort().map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(join(project, folder, 'package.json'), 'utf8'));
    const file = (await readdir(join(project, folder))).find((one) => /^licen[cs]e/i.test(one));
    const text = file === undefined ? '' : `\n${(await readFile(join(project, folder, file), 'utf8')).trim()}\n`;
    return `${name} ${version}: ${license}\n${text}`;
  });
  return (await Promise.all(sections)).join(`\n${'-'.repeat(80)}\n\n`);
}

try {
  const alone = await build({
    ...common,
    entryPoints: paths(bundledPrograms.inOneFile),
    // ioredis' errors are told apart by the names of their classes. Elsewhere packages are loaded as they are, and it would cost: each
    // function that is made is given its name once more, five for every command that a checker reads.
    keepNames: true,
    banner: { js: asksForRequire },
  });
  const parts = await build({
    ...common,
    entryPoints: paths(bundledPrograms.inParts),
    splitting: true,
    chunkNames: 'parts/[name]-[hash]',
    plugins: [otherPackagesStayOutside, knowsItsPlace],
    banner: { js: `${asksForRequire}\nconst compiledFolder = /^.*\\/dist\\//.exec(import.meta.url)[0];` },
  });
  // A page carries its script with it: every run writes one.
  const pages = await build({
    ...common,
    platform: 'browser',
    target: 'es2022',
    entryPoints: paths(bundledPrograms.forPages),
    entryNames: '[dir]/[name].page',
    minify: true,
    sourcemap: false,
    charset: 'ascii',
  });
  await writeFile(join(compiled, 'bundled-licences.txt'), await licencesOf(alone, parts, pages));
} catch {
  process.exit(1); // esbuild has said why
}
