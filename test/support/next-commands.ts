/** The commands that the tool prints for its user to type next: found in whatever it printed, and typed as they stand. */
import { spawn } from 'node:child_process';
import { ended } from './ended.js';

const TOOL = /(?:npm run torture --|npx lock-torture|node (?:'(?:[^']|'\\'')*torture\.mjs'|[^\s']*torture\.mjs))(?= )/g;

/**
 * Every command of the tool's in a text, each once, from its first word to the end of its line: in a terminal's output, Markdown that
 * is indented, or a page of HTML.
 */
export function commandsIn(text: string): string[] {
  const lines = isPage(text) ? codeOf(text) : text.split('\n');
  const commands = lines.flatMap((line) => {
    const [first] = line.matchAll(TOOL);
    if (!first) return [];
    const command = line.slice(first.index).trim();
    // One that is an aside stands in brackets, and one in a table of Markdown ends with its cell.
    return [line[first.index - 1] === '(' ? command.replace(/\)$/, '') : command.replace(/ \|.*$/, '')];
  });
  return [...new Set(commands)];
}

function isPage(text: string): boolean {
  return text.startsWith('<!doctype html>');
}

/** What stands in `code` and in cells of tables, as a reader copies it. */
function codeOf(page: string): string[] {
  return [...page.matchAll(/<(code|td)[^>]*>([^<]*)<\/\1>/g)].map(([, , text = '']) =>
    text
      .replaceAll('&#39;', "'")
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&'),
  );
}

/** Types a command in a shell, standing in `cwd`. */
export function typed(command: string, cwd: string, env: NodeJS.ProcessEnv = process.env): ReturnType<typeof ended> {
  // A shell of a user's has none of the variables that npm sets for what it runs, as these tests.
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => name !== 'INIT_CWD' && !/^npm_/i.test(name)));
  return ended(
    spawn('sh', ['-c', command], { cwd, env: { ...own, GITHUB_STEP_SUMMARY: '' }, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
}
