import { describe, expect, it } from 'vitest';
import type { HistoryEvent, RunConfig } from '../../../harness/api.js';
import { htmlReport } from '../../../reports/html.js';
import { holdBars, sheetsOf, tagsOf } from './reading.js';
import { inputOf, longInput, type PlainInput, plainSample } from './sample.js';

const plain = plainSample();
const input = inputOf(plain);
const page = htmlReport(input);
/** Coordinates are written to a hundredth. */
const PX_ERROR = 0.011;

describe('the page', () => {
  it('is well formed, has unique ids, and every link leads somewhere', () => {
    expect(idsAndLinks(page).links.length).toBeGreaterThan(30);
    expect(idsAndLinks(page)).toMatchObject({ doubled: [], dangling: [] });
  });

  it('needs no network and no script, and forbids both', () => {
    const tags = tagsOf(page);
    const policy = tags.find((tag) => tag.attributes['http-equiv'] === 'Content-Security-Policy');
    expect(policy?.attributes.content).toMatch(/^default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;/);
    expect(tags.map((tag) => tag.name)).not.toContain('script');
    expect(page).not.toMatch(/\bsrc=|<link|@import|https?:|url\((?!#)/);
  });

  it('says verdict, exit status, strength, reasons and the command that repeats the run', () => {
    expect(page).toMatch(
      /<section class="verdict violated">\s*<h1>VIOLATED <span>exit status 1: a property was violated/,
    );
    expect(page).toContain('3 of 9 struck holds were violated');
    expect(page).toContain('The planned amnesia was refused');
    expect(page).toContain('<pre><code>npm run torture -- --topology sentinel --seed 42</code></pre>');
  });

  it('lists violations in order, with their cause linked to the lines that show it', () => {
    const titles = [...page.matchAll(/<h3>(\d\. [^<]*)<\/h3>/g)].map(([, title]) => title);
    expect(titles).toEqual([
      '1. exclusion broken · lock:0 · at 10.388 s for 812 ms',
      '2. exclusion broken · lock:1 · at 10.431 s for 11.4 ms',
      '3. stale holder · lock:2 · at 13.310 s for 1.04 s',
    ]);
    const killed = plain.events.find((event) => event.type === 'fault' && event.state === 'strike')!;
    expect(page).toContain(`r1 was killed <span class="note"><a class="mono" href="#h${killed.i}">`);
    expect(page).toContain(`<li id="h${killed.i}" class="mono"><b>h${killed.i}</b> {&quot;i&quot;:${killed.i},`);
    const observation = input.results.violations[0]!.cause.chain[1]!.observation!;
    expect(page).toContain(`<li id="o${observation}" class="mono">`);
  });

  it('shows what does not fail the run as such', () => {
    const lenient = htmlReport({ ...input, config: { ...input.config, failOn: ['exclusion'] } });
    expect(lenient.match(/class="violation lenient"/g)).toHaveLength(1);
    expect(lenient).toContain('stale holder: 1 (does not fail this run)');
    expect(page).not.toContain('violation lenient');
  });

  it('tells of each planned fault what came of it', () => {
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

  it('shows checkers with figures and notes, deviating settings with why, and probes', () => {
    const text = page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    expect(text).toContain(
      'mutual-exclusion invalid 3 holds 60 · keys 3 · overlaps 3 · struckHolds 9 decided by the sweep',
    );
    expect(text).toContain('sentinel.conf down-after-milliseconds 500 a failover within the lease');
    expect(text).toContain('lock:1 acquired by c2 after 13 ms');
    expect(text).toContain('without clock no C compiler: install gcc to skew clocks');
  });
});

describe('the drawing of the whole run', () => {
  const [sheet] = sheetsOf(page, 'whole');

  it('draws every hold where its times say', () => {
    for (const hold of plain.holds) {
      const bars = holdBars(sheet!, `${hold.client}#${hold.id}`);
      const near = PX_ERROR * 2 * sheet!.nsPerPx;
      expect(Math.abs(bars[0]!.fromNs - hold.fromNs), `from of ${hold.id}`).toBeLessThan(near);
      expect(Math.abs(bars.at(-1)!.untilNs - hold.untilNs), `until of ${hold.id}`).toBeLessThan(near);
      const stale = bars.find((bar) => bar.class === 'hold-edge');
      expect(stale !== undefined, `stale part of ${hold.id}`).toBe(hold.leaseEndNs < hold.untilNs);
      if (stale !== undefined) expect(Math.abs(stale.fromNs - hold.leaseEndNs)).toBeLessThan(near);
    }
  });

  it('marks every violation over its time, once for each of its clients', () => {
    input.results.violations.forEach((violation, at) => {
      const mark = sheet!.source.split(`id="mark-${at + 1}"`)[1]!.split('</a>')[0]!;
      const spans = [...mark.matchAll(/<rect class="mark-span \w+" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)];
      expect(spans).toHaveLength(2);
      for (const [, x, width] of spans) {
        expect(Math.abs(sheet!.momentAt(Number(x)) - violation.fromNs)).toBeLessThan(PX_ERROR * 2 * sheet!.nsPerPx);
        // Never narrower than 3 px, however short it was.
        const drawn = Math.max(violation.untilNs - violation.fromNs, 3 * sheet!.nsPerPx);
        expect(Math.abs(Number(width) * sheet!.nsPerPx - drawn)).toBeLessThan(PX_ERROR * 2 * sheet!.nsPerPx);
      }
    });
  });

  it('puts a fault over the lanes that it struck, from the first touch to the heal', () => {
    const bands = [
      ...sheet!.source.matchAll(
        /<rect class="fault-band" x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="[\d.]+"><title>([^<]*)/g,
      ),
    ].map(
      ([, x, width, title]) =>
        [
          title!.split('\n')[0],
          sheet!.momentAt(Number(x)) / 1e9,
          sheet!.momentAt(Number(x) + Number(width)) / 1e9,
        ] as const,
    );
    const names = bands.map(([name]) => name);
    expect(names).toEqual(['F1 failover on r1', 'F2 pause on c4', 'F4 kill on s1']);
    expect(bands[0]![1]).toBeCloseTo(8.3, 2);
    expect(bands[0]![2]).toBeCloseTo(13.2, 2);
    expect(bands[1]![1]).toBeCloseTo(9.4, 2);
    expect(bands[1]![2]).toBeCloseTo(14.85, 2);
  });

  it('labels the axis where the times are', () => {
    const labels = [
      ...sheet!.source.matchAll(/<text class="axis" text-anchor="middle" x="([\d.]+)" y="[\d.]+">([\d.]+) s</g),
    ];
    expect(labels.length).toBeGreaterThan(5);
    for (const [, x, text] of labels) expect(sheet!.momentAt(Number(x)) / 1e9).toBeCloseTo(Number(text), 2);
  });

  it('shows roles, and the lock that only the old primary had', () => {
    const titles = [...sheet!.source.matchAll(/<title>([^<]*)/g)].map(([, title]) => title!);
    expect(titles.some((title) => title.startsWith('r2: primary\n9.900000 s'))).toBe(true);
    expect(titles.some((title) => title.startsWith('r1: not watched: read ECONNRESET\n9.151000 s'))).toBe(true);
    const owners = titles.filter((title) => title.startsWith('lock:0 belonged to c2') && title.includes('8.430'));
    expect(owners).toHaveLength(1);
  });
});

describe('what a full server evicted', () => {
  const stored = plain.observations.findIndex((one) => one.type === 'command' && one.argv[1] === 'lock:0');
  const { atNs, node } = plain.observations[stored]!;
  const evicted = [50e6, 50.001e6, 900e6].map(
    (laterNs) => ({ atNs: atNs + laterNs, node, type: 'evicted', key: 'lock:0' }) as const,
  );
  const pageWith = htmlReport(inputOf({ ...plain, observations: [...plain.observations, ...evicted] }));

  it('is marked where it happened, once where several would be one pixel, and explained', () => {
    const [sheet] = sheetsOf(pageWith, 'whole');
    const marks = [...sheet!.source.matchAll(/<line class="evicted" x1="([\d.]+)"[^>]*><title>([^<]*)/g)];
    expect(marks).toHaveLength(2);
    const [, x, title] = marks[0]!;
    expect(Math.abs(sheet!.momentAt(Number(x)) - evicted[0]!.atNs)).toBeLessThan(PX_ERROR * 2 * sheet!.nsPerPx);
    expect(title).toMatch(new RegExp(`^${node} evicted lock:0, which c\\d+ had stored: its memory was full`));
    expect(title).toContain('and 1 more at once');
    expect(title).toContain(`observations line ${plain.observations.length}`);
    expect(pageWith).toContain('evicted: the server’s memory was full');
  });

  it('is not in the legend of a run that has none', () => {
    expect(page).not.toContain('memory was full');
  });
});

describe('the close-ups', () => {
  it('magnify each violation, and once more where the overlap would be a few pixels', () => {
    const sheets = sheetsOf(page, 'close');
    const names = sheets.map((sheet) => sheet.tags[0]!.attributes['aria-label']);
    expect(names).toEqual([
      'Violation 1, close-up: 8.050 s to 12.200 s',
      'Violation 2, close-up: 8.050 s to 11.850 s',
      'Violation 2, closer still: 10.396 s to 10.476 s',
      'Violation 3, close-up: 7.949 s to 15.350 s',
    ]);
  });

  it('draw both holds, their leases and the flags of the cause where the times say', () => {
    const [first] = sheetsOf(page, 'close');
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
    input.results.violations[0]!.cause.chain.forEach((link, at) => {
      expect(Math.abs(flags[at]! - link.atNs)).toBeLessThan(near);
    });
  });
});

describe('what a lock, a log or a user said', () => {
  const nasty = `"><script>alert(1)</script>'&amp;\u0000\u001b[31m\u202e\ud800</title></style></svg>--> javascript:x`;

  it('is escaped, in every free-text field there is', () => {
    const hostile = inputOf(poisoned(plain, nasty));
    const report = htmlReport(hostile);
    const allowed = new Set(tagsOf(page).map((tag) => tag.name));
    for (const tag of tagsOf(report)) {
      expect(allowed, tag.name).toContain(tag.name);
      for (const name of Object.keys(tag.attributes)) expect(name).not.toMatch(/^on/);
      if (tag.attributes.href !== undefined) expect(tag.attributes.href).toMatch(/^#[a-z]+-?\d*$/);
      if (tag.attributes.id !== undefined) expect(tag.attributes.id).toMatch(/^[a-z]+(-[a-z]+)*-?\d*$/);
      if (tag.attributes.class !== undefined) expect(tag.attributes.class).toMatch(/^[a-z\d\- ]+$/);
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(report).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]|\p{Surrogate}/u);
    expect(report.match(/&lt;script&gt;/g)!.length).toBeGreaterThan(200);
  });

  it.each(fieldsShown())('%s is shown', (_, change, words) => {
    expect(htmlReport(inputOf(change(plainSample(), 'a<b>&"c')))).toContain(
      words.replace('%', 'a&lt;b&gt;&amp;&quot;c'),
    );
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
    const report = htmlReport(inputOf(empty));
    tagsOf(report);
    expect(report).toContain('UNKNOWN <span>exit status 2');
    expect(report).toContain('too few holds');
    expect(report).toContain('No client ever held a lock.');
    expect(report).toContain('7 clients of 7 never came up.');
    expect(report).toContain('Nothing was observed on the servers');
    expect(report).toContain('that alone does not make it a pass');
    expect(report).not.toContain('NaN');
  });

  it('a client that never came up has a lane that says so', () => {
    const report = htmlReport({ ...input, config });
    expect(report).toContain('1 client of 7 never came up.');
    expect(report.match(/never came up<\/text>/g)).toHaveLength(1);
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
    const report = htmlReport(inputOf({ ...plain, events, torn: true }));
    tagsOf(report);
    expect(report).toContain('The last line of the history was torn');
    expect(report).toContain('The history has no end of the run');
    expect(report).toContain('The harness stalled by 250 ms at 11.500 s');
    expect(report.match(/no heal in the record<\/span>/g)).toHaveLength(2);
    expect(report).toMatch(/h\d+ \(not in the record\)/);
  });

  it('violations without holds, leases without end and times that a file could not store are drawn', () => {
    const odd = structuredClone(plain);
    odd.holds[0]!.leaseEndNs = null as unknown as number;
    odd.results.violations[0]!.holds = [];
    odd.results.violations[0]!.kind = 'deadlock';
    odd.results.violations[0]!.class = 'liveness';
    odd.results.violations[1]!.holds[0]!.leaseEndNs = Number.POSITIVE_INFINITY;
    const report = htmlReport(inputOf(odd));
    tagsOf(report);
    expect(report).not.toMatch(/="NaN|="Infinity|="-/);
    expect(report).toContain('deadlock on lock:0');
  });
});

describe('violations of which only the first are reported', () => {
  it('are all counted, and it is said how many are shown', () => {
    const [first, ...others] = input.results.checkers;
    const found = { exclusion: 14_201, stale: 1 };
    const report = htmlReport({
      ...input,
      results: { ...input.results, found, checkers: [{ ...first!, found }, ...others] },
    });
    expect(report).toContain('<h2 id="violations">14,202 violations</h2>');
    expect(report).toContain('are the first 2 of 14,201 (exclusion broken).');
    expect(report).toContain('exclusion broken: 14,201');
    expect(report).toContain('<td>14,202</td>');
    expect(page).not.toContain('All are counted');
  });
});

describe('a long run', () => {
  it('stays below 5 MB at 20,000 holds, says what it merged, and still draws every violation', () => {
    const long = longInput(20_000, 40);
    const report = htmlReport(long);
    expect(Buffer.byteLength(report)).toBeLessThan(5e6);
    expect(/Drawn together or left out: .*[\d,]+ of 20,000 holds are too close together/.test(report)).toBe(true);
    const marks = report.match(/id="mark-\d+"/g)!;
    expect(new Set(marks).size).toBe(40);
    expect(idsAndLinks(report)).toMatchObject({ doubled: [], dangling: [] });
  });

  it('with thousands of violations too: each keeps a mark that its entry leads to', () => {
    const report = htmlReport(longInput(20_000, 4_000));
    expect(Buffer.byteLength(report)).toBeLessThan(5e6);
    expect(new Set(report.match(/id="mark-\d+"/g)).size).toBe(4_000);
    // Not `toMatch`: its message would be the whole page.
    expect(/4,000 violations share [\d,]+ red marks/.test(report)).toBe(true);
    expect(report.includes('940 further violations are in <code>results.json</code> only')).toBe(true);
    expect(idsAndLinks(report)).toMatchObject({ doubled: [], dangling: [] });
  });
});

// ------------------------------------------------------------------------------------------------------------------

function idsAndLinks(document: string) {
  const tags = tagsOf(document);
  const ids = tags.flatMap((tag) => tag.attributes.id ?? []);
  const known = new Set(ids);
  const links = tags.filter((tag) => tag.name === 'a').map((tag) => tag.attributes.href!);
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
    ['the command', change((base, text) => Object.assign(base.results, { again: text })), '<code>%</code>'],
    [
      'a proof',
      change((base, text) => Object.assign(base.results.violations[0]!, { proof: text })),
      '<dt>Proof</dt><dd>% <',
    ],
    [
      'a cause',
      change((base, text) => Object.assign(base.results.violations[0]!.cause, { sentence: text })),
      '</b> %<ol',
    ],
    [
      'a chain link',
      change((base, text) => Object.assign(base.results.violations[0]!.cause.chain[0]!, { text: text })),
      '</span> % <span',
    ],
    ['a note', change((base, text) => base.results.checkers[1]!.notes.push(text)), '<td><p>%</p></td>'],
    ['a setting', change((base, text) => Object.assign(base.settings[0]!, { why: text })), '<td>%</td>'],
    ['a refusal', change((base, text) => Object.assign(event(base, 'fail'), { reason: text })), 'did not succeed: %\n'],
    [
      'a death',
      change((base, text) => Object.assign(event(base, 'client-down'), { reason: text })),
      '\n%\nhistory line',
    ],
    ['a fault', change((base, text) => Object.assign(event(base, 'fault'), { did: text })), '</span> % <span'],
    ['a read-back', change((base, text) => Object.assign(event(base, 'fault'), { proof: text })), 'proof: %</span>'],
  ];
}
