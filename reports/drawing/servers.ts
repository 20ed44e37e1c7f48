/** The lanes of the servers: what each node believed, and the hosts that only a fault brings into the drawing. */

import { count, duration, durationOfMs, exactMoment, plural } from '../../harness/record/facts/words.js';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import { type Markup, markup } from '../markup.js';
import type { NodeBelief, RoleSpan } from '../story/beliefs.js';
import type { OwnerSpan } from '../story/owners.js';
import { type Canvas, drawHeading, LEFT, RIGHT } from './canvas.js';
import { fullness, mergeRows, sharedBars, spanRowOf } from './merge.js';
import { box, fitted, hover, label, line, textWidth } from './pieces.js';

const ROLE_WORDS: Record<RoleSpan['state'], string> = {
  primary: 'primary',
  replica: 'replica',
  'replica-cut': 'replica, link to its primary down',
  unknown: 'role unknown',
  unwatched: 'not watched',
};

export function drawNodes(canvas: Canvas): void {
  const { nodes, keys } = canvas.options;
  if (nodes.length === 0) {
    drawHeading(canvas, 'SERVERS: nothing was observed');
    return;
  }
  drawHeading(canvas, 'SERVERS: what each node believed (its role; then, by key, which client owned it)');
  const ownerRows: OwnerRow[] = [];
  for (const node of nodes) {
    const y = canvas.y;
    const height = canvas.sizes.role + 1 + keys.length * (canvas.sizes.key + 1);
    canvas.lanes.set(`host ${node.node}`, { y, height });
    canvas.behind.push(box('lane', { x: LEFT, y, width: RIGHT - LEFT, height }));
    canvas.main.push(
      label('lane-name', 4, y + canvas.sizes.role - 1, fitted(node.node, 50, 11)),
      ...roleBand(canvas, node, y),
    );
    keys.forEach((key, at) => {
      const rowY = y + canvas.sizes.role + 1 + at * (canvas.sizes.key + 1);
      canvas.main.push(
        markup`<text class="key-name" text-anchor="end" x="${LEFT - 6}" y="${rowY + canvas.sizes.key - 2.5}">${fitted(key, 60, 9)}</text>`,
      );
      const spans = (node.owners.get(key) ?? []).filter((span) => canvas.sees(span.fromNs, span.untilNs));
      ownerRows.push({ y: rowY, key, spans });
      canvas.front.push(...evictionMarks(canvas, node, key, rowY));
    });
    canvas.y += height + canvas.sizes.gap;
  }
  drawOwners(canvas, ownerRows);
}

function roleBand(canvas: Canvas, node: NodeBelief, y: number): Markup[] {
  const out: Markup[] = [];
  for (const role of node.roles) {
    if (!canvas.sees(role.fromNs, role.untilNs)) continue;
    const x = canvas.x(role.fromNs);
    const width = canvas.x(role.untilNs) - x;
    if (width <= 0) continue;
    const skew =
      role.skewMs === 0 ? '' : `, clock ${role.skewMs > 0 ? '+' : '−'}${durationOfMs(Math.abs(role.skewMs))}`;
    const words = `${ROLE_WORDS[role.state]}${role.reason === undefined ? '' : `: ${clipped(role.reason, 120)}`}${skew}`;
    const title = hover(
      `${node.node}: ${words}`,
      `${exactMoment(role.fromNs)} – ${exactMoment(role.untilNs)} (${duration(role.untilNs - role.fromNs)})`,
      role.line === undefined ? undefined : `observations line ${role.line}`,
    );
    const height = canvas.sizes.role;
    out.push(box(`role ${role.state}`, { x, y, width, height }, title));
    if (role.skewMs !== 0) out.push(box('skewed', { x, y: y + height - 2, width, height: 2 }, title));
    const font = 10.5;
    const text = fitted(words, width - 6, font);
    if (text !== '') out.push(label(`role-name ${role.state}`, Math.max(x, LEFT) + 4, y + height - 4, text));
  }
  for (const restart of node.restarts) {
    if (!canvas.sees(restart.atNs, restart.atNs)) continue;
    const x = canvas.x(restart.atNs);
    out.push(
      line(
        'restart',
        x,
        y - 2,
        x,
        y + canvas.sizes.role + 2,
        hover(
          `${node.node} came back as a new process by ${exactMoment(restart.atNs)}`,
          `observations line ${restart.line}`,
        ),
      ),
    );
  }
  return out;
}

/** Where the server threw the key away: one mark for all that fall on one pixel. */
function evictionMarks(canvas: Canvas, { node, evictions }: NodeBelief, key: string, y: number): Markup[] {
  const seen = evictions.filter((one) => one.key === key && canvas.sees(one.atNs, one.atNs));
  const byPixel = new Map<number, typeof seen>();
  for (const one of seen) {
    const x = Math.round(canvas.x(one.atNs));
    byPixel.set(x, [...(byPixel.get(x) ?? []), one]);
  }
  return [...byPixel.values()].map((together) => {
    const [first] = together;
    const x = canvas.x(first!.atNs);
    const whose = first!.owner === undefined ? '' : `, which ${first!.owner} had stored`;
    const title = hover(
      `${node} evicted ${clipped(key, 100)}${whose}: its memory was full`,
      `${exactMoment(first!.atNs)}${together.length > 1 ? `, and ${together.length - 1} more at once` : ''}`,
      `observations line ${first!.line}`,
    );
    return line('evicted', x, y - 1, x, y + canvas.sizes.key + 1, title);
  });
}

interface OwnerRow {
  y: number;
  key: string;
  spans: readonly OwnerSpan[];
}

function drawOwners(canvas: Canvas, rows: readonly OwnerRow[]): void {
  const inX = ({ fromNs, untilNs }: OwnerSpan) => ({ fromX: canvas.x(fromNs), untilX: canvas.x(untilNs) });
  const merged = mergeRows(
    rows.map(({ spans }) => spanRowOf(spans.map(inX))),
    canvas.options.budget,
  );
  const shared = sharedBars(merged.rows);
  if (shared.bars > 0)
    canvas.notes.push(
      `${count(shared.spans)} owners that servers believed in share ${plural(shared.bars, 'paler bar')}`,
    );
  merged.rows.forEach((bars, at) => {
    const { y, key, spans } = rows[at]!;
    for (const bar of bars) {
      const items = spans.slice(bar.first, bar.first + bar.count);
      const width = Math.max(1, bar.untilX - bar.fromX);
      const height = canvas.sizes.key;
      if (bar.count > 1) {
        const part = fullness(items.map((span) => [span.fromNs, span.untilNs]));
        const title = hover(
          `${bar.count} owners of ${clipped(key, 100)} one after the other, from ${exactMoment(items[0]!.fromNs)} on`,
          `it belonged to somebody for ${Math.round(part * 100)} % of that time`,
        );
        canvas.main.push(
          markup`<rect class="crowd ${canvas.colour(key)}" opacity="${0.25 + 0.75 * part}" x="${bar.fromX}" y="${y}" width="${width}" height="${height}">${title}</rect>`,
        );
        continue;
      }
      const [span] = items as [OwnerSpan];
      const owner = span.client ?? `? ${clipped(span.value, 60)}`;
      const seen = span.shownBy === 'command' ? 'from the command that stored it' : 'first seen in a sample';
      const title = hover(
        `${clipped(key, 100)} belonged to ${owner}`,
        `${exactMoment(span.fromNs)} – ${exactMoment(span.untilNs)} (${duration(span.untilNs - span.fromNs)})`,
        `stored: ${clipped(span.value, 120)}`,
        `${seen}, observations line ${span.line}`,
      );
      // All of a name or nothing: "c2…" would read as c2 where it is c2.2.
      const text = textWidth(owner, 10.5) <= width - 4 ? owner : '';
      canvas.main.push(
        box(
          `owner ${canvas.colour(key)} ${span.client === undefined ? 'unknown' : ''}`,
          { x: bar.fromX, y, width, height },
          title,
        ),
      );
      if (text !== '') canvas.main.push(label('on-bar', Math.max(bar.fromX, LEFT) + 3, y + height - 5.5, text));
    }
  });
}

/** More lanes than these would push what matters off the screen. */
const MOST_OTHERS = 12;

/** Hosts that have no lane of their own otherwise, so that a fault on a Sentinel is seen where it struck. */
export function drawOtherHosts(canvas: Canvas): void {
  const { story } = canvas.options;
  const touches = story.faults
    .flatMap((fault) => fault.spans.flatMap((span) => span.touches))
    .filter((touch) => canvas.sees(touch.fromNs, touch.untilNs));
  // Sentinels are mostly struck together, and then one lane says as much as three.
  const together = new Map<string, string[]>();
  for (const host of story.otherHosts) {
    const times = touches.filter((touch) => touch.target === host).map((touch) => `${touch.fromNs}-${touch.untilNs}`);
    if (times.length > 0) together.set(times.join(), [...(together.get(times.join()) ?? []), host]);
  }
  if (together.size === 0) return;
  drawHeading(canvas, 'OTHER HOSTS that a fault touched');
  for (const hosts of [...together.values()].slice(0, MOST_OTHERS)) {
    for (const host of hosts) canvas.lanes.set(`host ${host}`, { y: canvas.y, height: 11, sharedBy: hosts[0]! });
    canvas.behind.push(box('lane', { x: LEFT, y: canvas.y, width: RIGHT - LEFT, height: 11 }));
    canvas.main.push(label('lane-name', 4, canvas.y + 10, fitted(hosts.join(', '), LEFT - 8, 11)));
    canvas.y += 11 + canvas.sizes.gap;
  }
  if (together.size > MOST_OTHERS)
    canvas.notes.push(`${plural(together.size - MOST_OTHERS, 'more struck host')} without a lane`);
}
