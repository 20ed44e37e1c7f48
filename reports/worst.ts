/** `worst-violation.svg`: the drawing of the worst violation as a file of its own, for tickets and chats. */
import { BEARINGS, bearingOf, blamedOn } from '../harness/record/facts/blame.js';
import { BLAMES } from '../harness/record/schemas/blame.js';
import { CLASSES } from '../harness/record/schemas/violation-class.js';
import type { FailOn, Violation } from '../harness/vocabulary/verdict.js';
import { closeUps } from './drawing/closeup.js';
import { sharedDefinitions } from './drawing/definitions.js';
import type { ReportInput } from './input.js';
import { STYLE } from './page/style.js';
import { linkTo } from './page/violations.js';
import { stepsOf } from './story/steps.js';
import { storyOf } from './story/story.js';

/** Of those that are told first (`facts/classes.ts`) the gravest, and of these the longest; undefined where there is none. */
export function worstOf(violations: readonly Violation[], failOn: readonly FailOn[]): number | undefined {
  const ranks = violations.map((violation) => ({
    bearing: BEARINGS.indexOf(bearingOf(violation, failOn)),
    blame: BLAMES.indexOf(blamedOn(violation)),
    gravity: CLASSES.indexOf(violation.class),
    length: violation.untilNs - violation.fromNs,
  }));
  let worst: number | undefined;
  ranks.forEach((rank, at) => {
    const best = worst === undefined ? undefined : ranks[worst]!;
    const worse =
      best === undefined ||
      (rank.bearing - best.bearing ||
        rank.blame - best.blame ||
        rank.gravity - best.gravity ||
        best.length - rank.length) < 0;
    if (worse) worst = at;
  });
  return worst;
}

export function worstViolationSvg(input: ReportInput): string | undefined {
  const at = worstOf(input.results.violations, input.config.failOn);
  if (at === undefined) return undefined;
  const violation = input.results.violations[at]!;
  const mark = { number: at + 1, violation, href: linkTo(at + 1) };
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
