/** Brings Redis' own client into a lock's file that asks for it: `topology.nodeRedis()`. */
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Plugin } from 'esbuild';
import { PLACE } from '../../harness/client/node-redis/package.js';
import { nodeRedis } from '../../lock-impl/third-party/library.js';
import { type BundleContext, bundle, LockSpecError } from './bundle.js';
import { type FoundLibrary, findLibrary } from './published-library.js';

/** What the file imports, unseen by its author. */
const INJECTED = 'lock-torture:node-redis';

/** Of what is compiled without comments. */
const MENTIONS = /\bnodeRedis\b/;
const CALLS = /\.nodeRedis\s*\(/;

/**
 * As `bundle`, with the client of the project of `file`, else of where the user stands, else of `own`. Rejects where it is not installed.
 */
export async function bundleWithNodeRedis(
  spec: string,
  file: string,
  context: BundleContext,
  own?: string,
): Promise<string> {
  const bundled = await bundle(file, context);
  const source = await readFile(bundled, 'utf8');
  if (!MENTIONS.test(source)) return bundled;
  const beside = findLibrary(nodeRedis, dirname(file), context.cwd);
  const found = typeof beside === 'string' ? findLibrary(nodeRedis, context.cwd, own) : beside;
  if (typeof found !== 'string') return bundleForNodeRedis(file, found, context);
  // A lock may have something else that is called so.
  if (CALLS.test(source))
    throw new LockSpecError(`--lock ${spec}: topology.nodeRedis() needs the package redis: ${found}`);
  return bundled;
}

/** As `bundle`, with the client that was found. */
export function bundleForNodeRedis(file: string, found: FoundLibrary, context: BundleContext): Promise<string> {
  return bundle(file, context, [nodeRedisFrom(found)], { inject: [INJECTED] });
}

function nodeRedisFrom({ importedAs, from }: FoundLibrary): Plugin {
  const contents = `globalThis[Symbol.for(${JSON.stringify(PLACE)})] = () => import(${JSON.stringify(importedAs)});`;
  return {
    name: 'node-redis-from',
    setup(build) {
      const namespace = 'node-redis';
      build.onResolve({ filter: new RegExp(`^${INJECTED}$`) }, ({ path }) => ({ path, namespace }));
      build.onLoad({ filter: /./, namespace }, () => ({ contents, resolveDir: from }));
    },
  };
}
