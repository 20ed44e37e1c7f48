import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { FaultEffect, HistoryEvent } from '../../../harness/vocabulary/history.js';
import type { RunConfig } from '../../../harness/vocabulary/run.js';
import { htmlReport } from '../../../reports/html.js';
import type { ReportInput } from '../../../reports/input.js';
import { STYLE } from '../../../reports/page/style.js';
import { stepsOf } from '../../../reports/story/steps.js';
import { dataOf, holdBars, markupOf, sheetsOf, tagsOf } from './reading.js';
import { inputOf, type PlainInput, plainSample } from './sample.js';

const plain = plainSample();
const input = inputOf(plain);
const whole = htmlReport(input);
const page = markupOf(whole);
const report = (of: ReportInput) => markupOf(htmlReport(of));
/** Coordinates are written to a hundredth. */
const PX_ERROR = 0.011;

describe('the page', () => {
  it('is well formed, has unique ids, and every link leads somewhere', () => {
    expect(idsAndLinks(page).links.length).toBeGreaterThan(30);
    const more = ['deployment', 'deployment', 'lease'].map((on) => `https://example.org/${on}`);
    expect(idsAndLinks(page)).toMatchObject({ doubled: [], dangling: more });
  });

  it('needs no network and forbids it, and lets no script run but its own', () => {
    const script = /<script type="module">([\s\S]*?)<\/script>/.exec(whole)![1]!;
    const hash = createHash('sha256').update(script).digest('base64');
    const policy = tagsOf(page).find((tag) => tag.attributes['http-equiv'] === 'Content-Security-Policy');
    expect(policy?.attributes.content).toBe(
      `default-src &#39;none&#39;; script-src &#39;sha256-${hash}&#39;; style-src &#39;unsafe-inline&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;`,
    );
    expect(tagsOf(page).map((tag) => tag.name)).not.toContain('script');
    // A link is followed only by who reads more.
    const fetched = page.replace(/<a href="https:[^"]*" rel="noreferrer">/g, '');
    expect(fetched + /<style>([^<]*)</.exec(whole)![1]).not.toMatch(/\bsrc=|<link|@import|https?:|url\((?!#)/);
    expect(whole.match(/<\/script>/g)).toHaveLength(3);
    // Each page carries it: no library of the tool's own is in it.
    expect(script.length).toBeLessThan(100_000);
  });

  it('says of a simulated run that it was one', () => {
    const simulated = report({ ...input, config: { ...input.config, runtime: 'sim' } });
    expect(simulated).toContain(', simulated in virtual time</dd>');
    expect(page).not.toContain('virtual time');
  });

  it('leads to the files beside it, to where to read more, and to nothing else', () => {
    const files = ['history.jsonl', 'logs/r1.log', 'javascript:alert(1)', '../a<b', 'a<b'];
    const links = tagsOf(report({ ...input, files })).flatMap(({ attributes: { href = '#' } }) =>
      href.startsWith('#') ? [] : href,
    );
    expect(links.splice(0, 3)).toEqual([
      'https://example.org/deployment',
      'https://example.org/deployment',
      'https://example.org/lease',
    ]);
    expect(links).toEqual(['./history.jsonl', './javascript%3Aalert(1)', './a%3Cb', './logs/r1.log']);
  });

  it('says verdict, exit status, strength, reasons and the command that repeats the run', () => {
    expect(page).toMatch(
      /<section class="verdict violated" id="verdict">\s*<h1>✗ VIOLATED: not safe on sentinel <span>\(.* lock found · exit status 1</,
    );
    expect(page).toContain('<title>VIOLATED: not safe on sentinel ');
    expect(page).toMatch(
      /<dt>Lock<\/dt><dd>no mistake of its own .*<dt>Deployment<\/dt><dd>Redis lost .*<dt>Leases<\/dt><dd>1 /,
    );
    expect(page).toContain('<pre><code>npm run torture -- --topology sentinel --seed 42 --times 20</code></pre>');
    expect(page).toContain('The planned amnesia was refused');
    expect(page).toContain('<pre><code>npm run torture -- --topology sentinel --seed 42</code></pre>');
  });

  it('is amber where it passed by what is allowed', () => {
    const { results, ...rest } = plain;
    const words = { ...results.words!, verdict: 'PASSED, WITH 2 DOUBLE HOLDS ALLOWED BY --fail-on lock' };
    const shown = report(inputOf({ ...rest, results: { ...results, verdict: 'held', exitStatus: 0, words } }));
    expect(shown).toContain('<section class="verdict passed" id="verdict">');
    expect(shown).toContain('<h1>! PASSED, WITH 2 DOUBLE HOLDS ALLOWED BY --fail-on lock <span>exit status 0<');
    expect(STYLE.source).toContain('.unknown,.passed{--state:var(--doubt)}');
  });

  it('says what replays and judges it again, where that is known and can be had', () => {
    const again = { replay: "npx lock-torture replay 'a b' --times 10", check: "npx lock-torture check 'a b'" };
    const known = report({ ...input, again });
    expect(known).toContain('<code>npx lock-torture replay &#39;a b&#39; --times 10</code>');
    expect(known).toContain('<code>npx lock-torture check &#39;a b&#39;</code>');
    expect(known).toContain('On real servers the timing is never quite the same twice');
    expect(page).not.toContain(' replay ');
    const simulated = report({ ...input, config: { ...input.config, runtime: 'sim' }, again: { check: again.check } });
    expect(simulated).toContain('In virtual time it is the same each time, byte by byte:');
    expect(simulated).not.toContain('On real servers the timing');
  });

  it('lists violations in order, with their cause linked to the lines that show it', () => {
    const groups = page.split('<details class="group ').slice(1);
    const named = groups.map((group) => /<h3>([^<]*)<\/h3> <span class="tag soft">([^<]*)</.exec(group)!.slice(1));
    expect(named).toEqual([
      ['failover lost the write ×2, longest 812 ms', 'exclusion broken'],
      ['the client was paused, for 1.04 s', 'stale holder'],
    ]);
    const titles = groups.map((group) =>
      [...group.matchAll(/(?<=<h4>|#violation-1">)\d\. [^<]*/g)].map(([title]) => title),
    );
    expect(titles).toEqual([
      ['1. lock:0 · at 10.388 s for 812 ms', '2. lock:1 · at 10.431 s for 11.4 ms'],
      ['3. lock:2 · at 13.310 s for 1.04 s'],
    ]);
    expect(page).toContain('<h2>The clearest of 3: exclusion broken · lock:0 · at 10.388 s for 812 ms</h2>');
    const killed = plain.events.find((event) => event.type === 'fault' && event.state === 'strike')!;
    expect(page).toContain(`r1 was killed <span class="by">evidence <a class="mono" href="#h${killed.i}">`);
    expect(page).toContain(`<li id="h${killed.i}" class="mono"><b>h${killed.i}</b> {&quot;i&quot;:${killed.i},`);
    const observation = input.results.violations[0]!.cause.chain[1]!.observation!;
    expect(page).toContain(`<li id="o${observation}" class="mono">`);
  });

  it('says of each whose mistake it is, and why', () => {
    expect(page).toContain(
      '<b>Whose mistake: the deployment’s. What to do:</b> What deployment means. <a href="https://example.org/deployment" rel="noreferrer">Read more</a>',
    );
    expect(page.match(/<span class="tag soft">the lease&#39;s<\/span>/g)).toHaveLength(1);
  });

  it('leads from each cause to its page, where the documentation is on this machine', () => {
    const known = report({ ...input, docs: '../../docs' });
    const links = [...known.matchAll(/<a href="(\.\.[^"]*)">([^<]*)</g)].map(([, href, words]) => [href, words]);
    const lost = ['../../docs/causes.md#failover-lost-write', 'The cause failover-lost-write'];
    expect(links).toEqual([lost, lost, ['../../docs/causes.md#client-paused', 'The cause client-paused']]);
    expect(page).not.toContain('causes.md');
  });

  it('shows what does not fail the run as such', () => {
    const lenient = report({ ...input, config: { ...input.config, failOn: ['exclusion'] } });
    expect(lenient.match(/class="group violation lenient"/g)).toHaveLength(1);
    expect(lenient).toContain('✗ stale holder: 1</span><br><span class="note">does not fail this run');
    expect(page).not.toContain('violation lenient');
  });

  it('says what became of each planned fault', () => {
    const rows = [...page.matchAll(/<tr id="fault-\d">[\s\S]*?<\/tr>/g)].map(([row]) =>
      row.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' '),
    );
    expect(rows).toHaveLength(5);
    expect(rows[0]).toMatch(
      /failover on primary.*struck.*8\.300 s.*cut r1 ↔ r2.*proof: 10 blackhole routes.*9\.150 s SIGKILL.*13\.200 s routes removed.*proof: no blackhole route/,
    );
    expect(rows[2]).toMatch(/after acquire no\. 40 by any client.*refused.*2 of 3 nodes would forget/);
    expect(rows[4]).toMatch(/kill on replica.*never struck.*the run ended before it was due/);
  });

  it('counts faults that struck, and apart from them what was carried out and clients cannot see, with what hides it', () => {
    const tile = (of: ReportInput) =>
      />([^<]*)<\/b><span>(planned faults struck[^<]*)</.exec(report(of).replace(/<\/?button[^>]*>/g, ''))!.slice(1);
    const before = Number.parseInt(tile(input)[0]!, 10);
    expect(tile(input)[1]).toBe('planned faults struck');
    const { i, atNs } = plain.events.at(-1)!;
    const struckBy = (...effects: FaultEffect[]): PlainInput => {
      const strikes = effects.map(
        (effect, n): HistoryEvent => ({
          ...{ i: i + 1 + n, atNs, type: 'fault', step: 4 - 2 * n, fault: 'links', state: 'strike' },
          ...{ targets: ['r1'], did: 'did it', effects: [effect] },
        }),
      );
      return { ...plain, events: [...plain.events, ...strikes] };
    };
    const degraded = (delayMs: number): FaultEffect => {
      const how = { delayMs, jitterMs: 0, lossPpm: 0, duplicatePpm: 500_000, reorderPpm: 0, rateKbps: 0 };
      return { kind: 'degraded', pairs: [['r1', 'c1']], ...how };
    };
    const ordered: FaultEffect = { kind: 'heard-after', pairs: [['c1', 'r1']], withinMs: 5 };
    const byTcp = '1 more carried out, which TCP hides from clients';
    const asOrder = '1 more carried out, which only chose whom servers hear first, as chance does without it';
    expect(tile(inputOf(struckBy(degraded(0))))).toEqual([`${before} of 5`, `planned faults struck; ${byTcp}`]);
    expect(tile(inputOf(struckBy(ordered)))).toEqual([`${before} of 5`, `planned faults struck; ${asOrder}`]);
    expect(tile(inputOf(struckBy(degraded(0), ordered)))[1]).toBe(`planned faults struck; ${byTcp}; ${asOrder}`);
    expect(tile(inputOf(struckBy(degraded(5))))).toEqual([`${before + 1} of 5`, 'planned faults struck']);
    expect(report(inputOf(struckBy(ordered)))).toContain('heard after others, within 5 ms: c1 → r1');
  });

  it('shows checkers with figures and notes, deviating settings with why, and probes', () => {
    const text = page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    expect(text).toContain(
      'mutual-exclusion invalid 3 holds 64 · keys 3 · overlaps 3 · strikes 2 · struckHolds 9 decided by the sweep',
    );
    expect(text).toContain('sentinel.conf down-after-milliseconds 500 a failover within the lease');
    expect(text).toContain('lock:1 acquired by c2 after 13 ms');
    expect(text).toContain('without clock no C compiler: install gcc to skew clocks');
  });
});

describe('the close-ups', () => {
  it('magnify each violation, and again where the overlap would be a few pixels', () => {
    const sheets = sheetsOf(page);
    const names = sheets.map((sheet) => sheet.tags[0]!.attributes['aria-label']);
    expect(names).toEqual([
      'Violation 1, close-up: 8.050 s to 12.200 s',
      'Violation 2, close-up: 8.050 s to 11.850 s',
      'Violation 2, closer still: 10.396 s to 10.476 s',
      'Violation 3, close-up: 7.949 s to 15.350 s',
    ]);
  });

  it('draw both holds, their leases and the flags of the cause where the times say', () => {
    const [first] = sheetsOf(page);
    const [a, b] = input.results.violations[0]!.holds;
    const near = PX_ERROR * 2 * first!.nsPerPx;
    for (const hold of [a!, b!]) {
      const [bar] = holdBars(first!, `${hold.client}#${hold.id}`);
      expect(Math.abs(bar!.fromNs - hold.fromNs)).toBeLessThan(near);
      expect(Math.abs(bar!.untilNs - hold.untilNs)).toBeLessThan(near);
    }
    // Only theirs, though other holds are seen in their lanes.
    const leases = [...first!.source.matchAll(/<rect class="lease k\d" x="([\d.]+)"/g)].map(([, x]) => Number(x));
    expect(leases).toHaveLength(2);
    for (const { grantSentNs } of [a!, b!])
      expect(leases.some((x) => Math.abs(first!.momentAt(x) - grantSentNs) < near)).toBe(true);
    const flags = [...first!.source.matchAll(/<circle cx="([\d.]+)"/g)].map(([, x]) => first!.momentAt(Number(x)));
    const steps = stepsOf(input.results.violations[0]!);
    expect(steps.length).toBeGreaterThan(input.results.violations[0]!.cause.chain.length);
    steps.forEach((step, at) => {
      expect(Math.abs(flags[at]! - step.atNs)).toBeLessThan(near);
    });
  });
});

describe('what a lock, a log or a user said', () => {
  const nasty = `"><script>alert(1)</script>'&amp;\u0000\u001b[31m\u202e\ud800</title></style></svg>--> javascript:x`;

  it('is escaped, in every free-text field', () => {
    const hostile = inputOf(poisoned(plain, nasty));
    const shown = report(hostile);
    const allowed = new Set(tagsOf(page).map((tag) => tag.name));
    for (const tag of tagsOf(shown)) {
      expect(allowed, tag.name).toContain(tag.name);
      for (const name of Object.keys(tag.attributes)) expect(name).not.toMatch(/^on/);
      if (tag.attributes.href !== undefined)
        expect(tag.attributes.href).toMatch(/^#([a-z]+-?\d*|t=[\d.]+-[\d.]+&amp;at=[\d.]+)$/);
      if (tag.attributes.id !== undefined) expect(tag.attributes.id).toMatch(/^[a-z]+(-[a-z]+)*-?\d*$/);
      if (tag.attributes.class !== undefined) expect(tag.attributes.class).toMatch(/^[a-z\d\- ]+$/);
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]|\p{Surrogate}/u);
    expect(shown.match(/&lt;script&gt;/g)!.length).toBeGreaterThan(200);
  });

  it.each(fieldsShown())('%s is shown', (_, change, words) => {
    expect(report(inputOf(change(plainSample(), 'a<b>&"c')))).toContain(words.replace('%', 'a&lt;b&gt;&amp;&quot;c'));
  });
});

describe('missing pieces', () => {
  const config: RunConfig = { ...input.config, clients: 7 };
  const empty: PlainInput = {
    ...plain,
    config,
    plan: { version: 1, seed: 1, steps: [] },
    events: [],
    observations: [],
    holds: [],
    settings: [],
    results: {
      ...input.results,
      verdict: 'unknown',
      exitStatus: 2,
      words: undefined!,
      headline: 'Nothing was proved',
      reasons: ['too few holds'],
      violations: [],
      checkers: [],
      found: {},
      strength: undefined,
      stats: {},
    },
  };

  it('an empty record is a page that says what is missing', () => {
    const shown = report(inputOf(empty));
    tagsOf(shown);
    expect(shown).toContain('? CANNOT TELL <span>exit status 2');
    expect(shown).toContain('too few holds');
    expect(shown).toContain('No client ever held a lock.');
    expect(shown).toContain('7 clients of 7 never came up.');
    expect(shown).toContain('Nothing was observed on the servers');
    expect(shown).toContain('that alone does not make it a pass');
    expect(shown).not.toContain('NaN');
  });

  it('a client that never came up has a lane that says so', () => {
    const shown = report({ ...input, config });
    expect(shown).toContain('1 client of 7 never came up.');
    expect(dataOf(htmlReport({ ...input, config })).slots.map(({ name }) => name)).toContain('c7');
  });

  it('a torn history, a missing end, a fault without its heal and a disturbance are said', () => {
    const events: HistoryEvent[] = plain.events.filter((event) => event.atNs < 12e9);
    events.push({
      i: events.length,
      atNs: 12e9,
      type: 'disturbance',
      disturbance: 'harness-stall',
      ms: 250,
      beganNs: 11.5e9,
    });
    const shown = report(inputOf({ ...plain, events, torn: true }));
    tagsOf(shown);
    expect(shown).toContain('The last line of the history was torn');
    expect(shown).toContain('The history has no end of the run');
    expect(shown).toContain('The harness stalled by 250 ms at 11.500 s');
    expect(shown.match(/no heal in the record<\/span>/g)).toHaveLength(2);
    expect(shown).toMatch(/h\d+ \(not in the record\)/);
  });

  it('violations without holds, leases without end and times that a file could not store are drawn', () => {
    const odd = structuredClone(plain);
    odd.holds[0]!.leaseEndNs = null as unknown as number;
    odd.results.violations[0]!.holds = [];
    odd.results.violations[0]!.kind = 'deadlock';
    odd.results.violations[0]!.class = 'liveness';
    odd.results.violations[1]!.holds[0]!.leaseEndNs = Number.POSITIVE_INFINITY;
    const shown = report(inputOf(odd));
    tagsOf(shown);
    expect(shown).not.toMatch(/="NaN|="Infinity|="-/);
    expect(shown).toContain('deadlock on lock:0');
  });
});

describe('violations of which only the first are reported', () => {
  it('are all counted, and the page says how many are shown', () => {
    const [first, ...others] = input.results.checkers;
    const found = { exclusion: 14_201, stale: 1 };
    const shown = report({
      ...input,
      results: { ...input.results, found, checkers: [{ ...first!, found }, ...others] },
    });
    expect(shown).toContain('<h2 id="violations">14,202 violations, by cause</h2>');
    expect(shown).toContain('are the first 2 of 14,201 (exclusion broken).');
    expect(shown).toContain('exclusion broken: 14,201');
    expect(shown).toContain('<td>14,202</td>');
    expect(page).not.toContain('All are counted');
  });
});

// ------------------------------------------------------------------------------------------------------------------

function idsAndLinks(document: string) {
  const tags = tagsOf(document);
  const ids = tags.flatMap((tag) => tag.attributes.id ?? []);
  const known = new Set(ids);
  // A time in the timeline is nothing on the page.
  const links = tags
    .filter((tag) => tag.name === 'a')
    .map((tag) => tag.attributes.href!)
    .filter((link) => !/^#t=[\d.]+-[\d.]+&amp;at=[\d.]+$/.test(link));
  return {
    links,
    doubled: ids.filter((id, at) => known.size < ids.length && ids.indexOf(id) !== at),
    dangling: links.filter((link) => !known.has(link.replace(/^#/, ''))),
  };
}

/** Strings that are vocabulary, not free text: they come from the harness's own types. */
const VOCABULARY = new Set([
  'type',
  'phase',
  'op',
  'state',
  'verdict',
  'class',
  'endedBy',
  'released',
  'role',
  'disturbance',
  'event',
  'kind',
]);
/** Records whose keys somebody else chose. */
const FREE_KEYS = new Set(['stats', 'keys', 'args', 'unavailable', 'env']);

/** Appends `text` to every free-text string, so that equal names stay equal. */
function poisoned<T>(value: T, text: string, key = ''): T {
  if (typeof value === 'string') return (VOCABULARY.has(key) ? value : `${value}${text}`) as T;
  if (Array.isArray(value)) return (key === 'failOn' ? value : value.map((item) => poisoned(item, text, key))) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      FREE_KEYS.has(key) ? `${name}${text}` : name,
      poisoned(item, text, name),
    ]),
  ) as T;
}

type Change = (input: PlainInput, text: string) => PlainInput;

/** One field each: where it is set, and how the page shows it. */
function fieldsShown(): [name: string, change: Change, words: string][] {
  const change =
    (edit: (input: PlainInput, text: string) => unknown): Change =>
    (base, text) => {
      const copy = structuredClone(base);
      edit(copy, text);
      return copy;
    };
  const event = (base: PlainInput, type: HistoryEvent['type']) => base.events.find((one) => one.type === type)!;
  return [
    [
      'a headline',
      change((base, text) => Object.assign(base.results, { headline: text })),
      '<p class="headline">%</p>',
    ],
    ['a reason', change((base, text) => base.results.reasons.push(text)), '<li>%</li>'],
    ['the command', change((base, text) => Object.assign(base.results, { reproduce: text })), '<code>%</code>'],
    [
      'a proof',
      change((base, text) => Object.assign(base.results.violations[0]!, { proof: text })),
      '<b>Proof:</b> % <',
    ],
    [
      'a cause',
      change((base, text) => Object.assign(base.results.violations[0]!.cause, { sentence: text })),
      '<b>Why: %</b>',
    ],
    [
      'a chain link',
      change((base, text) => Object.assign(base.results.violations[0]!.cause.chain[0]!, { text: text })),
      '</a> % <span class="by">',
    ],
    ['a note', change((base, text) => base.results.checkers[1]!.notes.push(text)), '<td><p>%</p></td>'],
    ['a setting', change((base, text) => Object.assign(base.settings[0]!, { why: text })), '<td>%</td>'],
    ['a fault', change((base, text) => Object.assign(event(base, 'fault'), { did: text })), '</span> % <span'],
    ['a read-back', change((base, text) => Object.assign(event(base, 'fault'), { proof: text })), 'proof: %</span>'],
  ];
}
