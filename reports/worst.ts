/** `worst-violation.svg`: the drawing of the clearest violation as a file of its own, for tickets and chats. */
import { groupsOf } from '../harness/record/facts/groups.js';
import { closeUps } from './drawing/closeup.js';
import { sharedDefinitions } from './drawing/definitions.js';
import type { ReportInput } from './input.js';
import { STYLE } from './page/style.js';
import { linkTo } from './page/violations.js';
import { stepsOf } from './story/steps.js';
import { storyOf } from './story/story.js';

/** Of the violation that the report shows first; undefined where there is none. */
export function worstViolationSvg(input: ReportInput): string | undefined {
  const [gravest] = groupsOf(input.results.violations);
  if (gravest === undefined) return undefined;
  const { number, violation } = gravest.clearest;
  const mark = { number, violation, href: linkTo(number) };
  const [closeUp] = closeUps(mark, storyOf(input), stepsOf(violation));
  // The page's own style, with its own background: an SVG in a dark viewer would be dark on dark.
  const style = `<style>${STYLE.source}svg{background:var(--page)}</style>`;
  const inside = `${style}${sharedDefinitions().source.replace(/^<svg[^>]*>|<\/svg>$/g, '')}`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${closeUp!.svg.source
    .replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ')
    .replace(/^(<svg[^>]*>)/, (tag) => `${tag}${inside}`)
    .replace(/<a href="#[^"]*">/g, '<g>')
    .replace(/<\/a>/g, '</g>')}\n`;
}
