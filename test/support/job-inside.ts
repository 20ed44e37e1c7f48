/** Programs of tests that need a network of their own. */
import { spawn } from 'node:child_process';

/** How esbuild makes such a program of its sources: it is run where the project's files are not compiled. */
export const BUNDLED = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  logLevel: 'error',
  // Some dependencies are CommonJS and ask for `require`. Under another name: what is bundled may import it by its own.
  banner: {
    js: "import { createRequire as requireAt } from 'node:module'; const require = requireAt(import.meta.url);",
  },
} as const;

/**
 * Runs a program in network and process namespaces of its own, as an ordinary user too: it reads a job from standard input, and its
 * lines, in JSON, are the answer. Rejects with what it had said by then where it ends with another status than 0.
 */
export async function jobInside<Line>(program: string, job: object): Promise<Line[]> {
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const namespaces = [...asRoot, '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const child = spawn('unshare', [...namespaces, process.execPath, program], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(job));
  let text = '';
  child.stdout.on('data', (data) => {
    text += data;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${text}`);
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}
