/** The page's own style: light, dark and on paper, with nothing fetched. */
import { Markup } from '../markup.js';

const KEYS_LIGHT = ['#2f6fde', '#16876a', '#8250df', '#0b7f9c', '#6a7a12', '#a8478f', '#5a6b8c', '#80592f'];
const KEYS_DARK = ['#6ea8ff', '#4cc2a0', '#b692f6', '#4fc0dc', '#b5c250', '#e08cc8', '#a3b2cf', '#cda377'];

function variables(keys: readonly string[]): string {
  return keys.map((colour, at) => `--k${at}:${colour};`).join('');
}

function keyRules(keys: readonly string[]): string {
  return keys.map((_, at) => `.k${at}{--key:var(--k${at})}`).join('');
}

const LIGHT = `--page:#fff;--card:#f6f8fa;--text:#1f2328;--muted:#59636e;--edge:#d1d9e0;--lane:#f3f5f8;--grid:#e1e6eb;
--bad:#c8102e;--bad-soft:rgba(200,16,46,.17);--good:#1a7f37;--doubt:#9a6700;--fault:#b35900;--fault-soft:rgba(255,170,40,.3);
--primary:#3d4752;--on-primary:#fff;--replica:#cfd8e1;--on-replica:#333d47;--absent:#dde2e8;--wait:#aab4be;--crowd:#7d8894;--on-bar:#fff;--other:#6e7781;--skew:#8250df;
${variables(KEYS_LIGHT)}`;

const DARK = `--page:#0d1117;--card:#151b23;--text:#e6edf3;--muted:#9198a1;--edge:#3d444d;--lane:#161c24;--grid:#262d36;
--bad:#ff6b6b;--bad-soft:rgba(255,80,80,.25);--good:#3fb950;--doubt:#d29922;--fault:#f0a04b;--fault-soft:rgba(240,160,60,.24);
--primary:#c9d3de;--on-primary:#10161d;--replica:#39434e;--on-replica:#d5dde5;--absent:#2a313a;--wait:#5d6772;--crowd:#8b95a0;--on-bar:#0b1016;--other:#9aa4ae;--skew:#b692f6;
${variables(KEYS_DARK)}`;

const PAGE = `
*{box-sizing:border-box}
html{scroll-padding-top:46px}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI","Liberation Sans",Arial,sans-serif}
main{max-width:1440px;margin:0 auto;padding:14px 20px 20px}
h1,h2,h3{line-height:1.25}
h2{margin:40px 0 10px;font-size:21px}
h4{margin:12px 0 4px;font-size:14px}h3{margin:20px 0 8px;font-size:17px}article h3{margin-top:0}
p{margin:6px 0}
a{color:inherit;text-decoration-color:var(--muted)}
code,pre,.mono{font-family:ui-monospace,"SFMono-Regular","Liberation Mono",Menlo,monospace;font-size:13px}
pre{margin:6px 0;padding:10px 12px;background:var(--card);border:1px solid var(--edge);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;user-select:all}
.muted{color:var(--muted)}
.verdict{border:1px solid var(--edge);border-left:10px solid var(--state);border-radius:6px;background:var(--card);padding:10px 18px}
.verdict h1{margin:0;font-size:24px;color:var(--state);overflow-wrap:anywhere}
.verdict h1 span{font-size:14.5px;font-weight:400;color:var(--muted);letter-spacing:0}
.verdict .headline{margin:4px 0;color:var(--muted)}.verdict details{margin:4px 0}
.held{--state:var(--good)}.violated{--state:var(--bad)}.unknown,.passed{--state:var(--doubt)}
.verdict .in-short{margin:6px 0}.in-short div{display:grid;grid-template-columns:7em 1fr;gap:8px;padding:1px 0}.in-short dt{font-weight:700}.in-short dd{margin:0;overflow-wrap:anywhere}
.verdict ul{margin:6px 0;padding-left:20px}
.tag{display:inline-block;border:1px solid currentColor;border-radius:12px;padding:0 10px;font-size:13px}
.tag.bad{color:var(--bad);font-weight:600}.tag.soft{color:var(--muted)}
.violation{border:1px solid var(--edge);border-left:6px solid var(--bad);border-radius:6px;padding:10px 16px;margin:10px 0}
.violation.lenient{border-left-color:var(--muted)}
details>summary h3,details>summary h4{display:inline}details.violation>summary,.one>summary{color:var(--text)}
summary h3{font-size:15.5px;color:var(--text)}.violation summary h3{font-size:16px}#measured details{margin:5px 0}#clearest h2{margin:0 0 4px;font-size:18px}.one{border-top:1px solid var(--edge);padding:5px 0;margin:0}.one h4{margin:0;font-weight:500}.one>article{padding:2px 0 8px 14px}
.told .tag,.group>p>.tag{margin:2px 0}.told>p:empty,.group>p:empty{display:none}
.command{display:flex;align-items:flex-start;gap:6px;margin:4px 0}.command pre{flex:1;margin:0}.command button{flex:none;min-width:4.5em;margin-top:5px}
.term,.term:hover{border:0;border-radius:0;padding:0;background:none;font:inherit;color:inherit;text-align:inherit;text-decoration:underline dotted var(--muted);text-underline-offset:3px;cursor:help}
.explanation{max-width:min(34em,88vw);padding:12px 16px;border:1px solid var(--muted);border-radius:6px;background:var(--card);color:var(--text);font-size:14px}
.on-paper{display:none}
.one:has(>:target),tr:target{outline:3px solid var(--bad)}
.cited li:target{outline:2px solid var(--doubt)}
.when{font-variant-numeric:tabular-nums;white-space:nowrap;font-weight:600}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{border-bottom:1px solid var(--edge);padding:6px 10px 6px 0;text-align:left;vertical-align:top;overflow-wrap:anywhere}
.batch td,.runs td{overflow-wrap:break-word}.runs td{max-width:24em}.runs th{white-space:nowrap}.runs .faults{min-width:15em}
th button,th button:hover{border:0;border-radius:0;padding:0;background:none;font:inherit;color:inherit;white-space:nowrap}th[aria-sort] button::after{content:' ▲';content:' ▲'/''}th[aria-sort=descending] button::after{content:' ▼';content:' ▼'/''}
.nowrap{white-space:nowrap}
.faults td:nth-child(2){min-width:16em}
th{overflow-wrap:normal;color:var(--muted);font-weight:600;font-size:13px}
td p{margin:0 0 3px}
.faults th:first-child{white-space:nowrap}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.facts th{width:13em;white-space:nowrap}
.state{font-weight:700}.state.good{color:var(--good)}.state.bad{color:var(--bad)}.state.doubt{color:var(--doubt)}
.cited{list-style:none;margin:0;padding:0}.cited li{padding:1px 0;word-break:break-all}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:13px;color:var(--muted)}
.swatch{display:inline-flex;align-items:center;gap:6px;max-width:100%;overflow-wrap:anywhere}
nav{position:sticky;top:0;z-index:5;display:flex;gap:18px;overflow-x:auto;margin:-14px 0 8px;padding:9px 0;background:var(--page);border-bottom:1px solid var(--edge);white-space:nowrap;color:var(--muted);font-size:14px;scrollbar-width:thin}
nav a{text-decoration:none}nav a:hover{text-decoration:underline}nav b{border-radius:9px;padding:0 6px;background:var(--absent);color:var(--text);font-size:12px}
.note{font-size:13px;color:var(--muted)}
details summary{cursor:pointer;color:var(--muted)}
.tested{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27em),1fr));gap:2px 24px;margin:12px 0}
.tested div{display:grid;grid-template-columns:4em 1fr;gap:8px}.tested dt{color:var(--muted)}.tested dd{margin:0;overflow-wrap:anywhere}
.tiles{display:flex;flex-wrap:wrap;gap:8px;margin:12px 0;padding:0;list-style:none}
.tiles li{flex:1 1 7.5em;border:1px solid var(--edge);border-radius:6px;background:var(--page);padding:6px 12px}
.tiles b{display:block;font-size:20px;font-variant-numeric:tabular-nums}.tiles span{font-size:12.5px;color:var(--muted)}
.properties td:first-child{width:36%}.properties .state{white-space:nowrap}
.story{display:grid;grid-template-columns:minmax(0,1fr);gap:10px 22px}
@media (min-width:1000px){.story{grid-template-columns:minmax(0,5fr) minmax(0,8fr)}.story .drawn{position:sticky;top:52px;align-self:start}}
ol.steps{list-style:none;counter-reset:step;margin:6px 0;padding:0}
ol.steps li{counter-increment:step;position:relative;padding:0 0 7px 30px;overflow-wrap:anywhere}
ol.steps li::before{content:counter(step);position:absolute;left:0;top:2px;width:19px;height:19px;border-radius:50%;background:var(--text);color:var(--page);font-size:11px;font-weight:700;line-height:19px;text-align:center}
ol.steps li.wrong::before{background:var(--bad);color:var(--page)}ol.steps li.wrong{font-weight:600}
ol.steps a.when{text-decoration:none}ol.steps a.when:hover{text-decoration:underline}
ol.steps .by{color:var(--muted);font-size:12px;font-weight:400}
.why{border-left:3px solid var(--edge);padding-left:10px;margin:8px 0}
.believed{width:auto;font-size:13px}.believed td,.believed th{padding:3px 14px 3px 0}
html:not(.scripted) .only-scripted{display:none}
.tools{display:flex;flex-wrap:wrap;align-items:center;gap:6px;margin:8px 0}
button,input,select{font:inherit;font-size:13px;color:var(--text);background:var(--card);border:1px solid var(--edge);border-radius:6px;padding:3px 10px;cursor:pointer}
button:hover{border-color:var(--muted)}:focus-visible{outline:2px solid var(--k0);outline-offset:1px}
#window{margin-left:auto;font-size:13px}
#chart{border:1px solid var(--edge);border-radius:6px;max-height:82vh;overflow:hidden auto;background:var(--page)}
#chart canvas{display:block;width:100%;touch-action:pan-y;cursor:crosshair}
#chart #head{position:sticky;top:0;background:var(--page);border-bottom:1px solid var(--edge)}
#tip{position:fixed;z-index:9;max-width:min(440px,90vw);padding:7px 10px;border:1px solid var(--muted);border-radius:6px;background:var(--card);color:var(--text);font-size:12.5px;line-height:1.4;pointer-events:none;overflow-wrap:anywhere}
#tip>*{display:block}
#state{border:1px solid var(--edge);border-left:4px solid var(--k0);border-radius:6px;padding:8px 14px;margin:8px 0;font-size:13.5px;overflow-wrap:anywhere}
#state ul{margin:4px 0;padding-left:18px}
[hidden]{display:none!important}
figure{margin:14px 0}figcaption{font-size:13px;font-weight:600;margin-bottom:4px}
.uplot,.u-legend{font-family:inherit!important;font-size:12px}.plot{overflow:hidden}
.bar{position:relative;min-width:9em}.bar i{position:absolute;left:0;bottom:2px;height:3px;background:var(--k0);border-radius:2px}`;

const DRAWING = `
.definitions{position:absolute}
svg.sheet{display:block;width:100%;min-width:620px;height:auto;font-family:system-ui,"Liberation Sans",Arial,sans-serif;font-size:11px;fill:var(--text)}
.lane{fill:var(--lane)}.grid{stroke:var(--grid);stroke-width:1}
.heading{font-size:10px;letter-spacing:.05em;fill:var(--muted)}
.lane-name{font-size:11px;font-weight:600}.lane-name.bad{fill:var(--bad)}
text.muted,.key-name,.axis,.in-band{fill:var(--muted)}
text.muted{font-weight:400}.key-name{font-size:9px}.axis{font-size:10.5px}.in-band{font-size:10px}
.phase{fill:var(--lane);stroke:var(--edge);stroke-width:.5}.phase.odd{fill:var(--absent)}
.hold,.hold-edge,.owner,.hatch,.lease{fill:var(--key)}
.hold-edge{fill:var(--page);stroke:var(--key);stroke-width:1}
.hold-group.dim{opacity:.38}
.lease{opacity:.75}.lease-end{stroke:var(--key);stroke-width:2}
.owner{stroke:var(--lane);stroke-width:1}.owner.unknown{opacity:.55}
.k-other{--key:var(--other)}
.on-bar{fill:var(--on-bar);font-size:10.5px;pointer-events:none}
.crowd{fill:var(--key)}
.tick.fail{fill:var(--muted);opacity:.65}.tick.info{fill:var(--fault)}
.absent{fill:var(--absent)}.absent-name{fill:var(--muted);font-style:italic}
.down line,.down path{stroke:var(--text);stroke-width:1.6;fill:none}
.role.primary{fill:var(--primary)}.role.replica,.role.replica-cut{fill:var(--replica)}.role.unknown{fill:var(--absent)}
.role.replica-cut{stroke:var(--fault);stroke-width:1;stroke-dasharray:4 2}
.role.unwatched{fill:url(#unwatched)}.hatch-grey{fill:var(--crowd)}.hatch-fault{fill:var(--fault)}rect.wait{fill:var(--wait)}
.role-name{font-size:10.5px;pointer-events:none;fill:var(--on-replica)}.role-name.primary{fill:var(--on-primary)}
.role-name.unwatched{fill:var(--text);paint-order:stroke;stroke:var(--page);stroke-width:3}
.skewed{fill:var(--skew)}.restart{stroke:var(--good);stroke-width:2.5}.evicted{stroke:var(--fault);stroke-width:2.5}
.fault-bar{fill:var(--fault-soft);stroke:var(--fault);stroke-width:1}.fault-bar.unhealed{stroke-dasharray:4 2}
.fault-moment{stroke:var(--fault);stroke-width:2}.miss-fault{stroke:var(--muted);stroke-width:2}
.fault-name{font-size:10.5px;fill:var(--text);paint-order:stroke;stroke:var(--page);stroke-width:2.5;stroke-opacity:.7}.fault-name.missed{fill:var(--muted)}
.fault-band{fill:var(--fault-soft)}.fault-edge{stroke:var(--fault);stroke-width:1.5}
.mark-bar{fill:var(--bad)}.mark-name{font-size:11px;font-weight:700;fill:var(--bad);paint-order:stroke;stroke:var(--page);stroke-width:3}
.mark-fill{fill:var(--bad-soft)}.mark-fill.stale{fill:url(#stale-mark)}
.mark-span{fill:none;stroke:var(--bad);stroke-width:2}.mark-span.stale{stroke-dasharray:4 2}.hatch-red{fill:var(--bad-soft)}
.mark-frame{fill:none;stroke:var(--bad);stroke-width:.6;stroke-dasharray:2 3;pointer-events:none}
.flag circle{fill:var(--text)}.flag text{font-size:10px;font-weight:700;fill:var(--page)}
.lifeline{stroke:var(--edge);stroke-width:1.5}.arrow .shaft{stroke:var(--muted);stroke-width:1.2}.arrow .head{fill:var(--muted)}.arrow path{stroke:none}
.arrow text,.note-at text{paint-order:stroke;stroke:var(--page);stroke-width:3.5}.arrow text{font-family:ui-monospace,"SFMono-Regular","Liberation Mono",Menlo,monospace;font-size:10.5px}
.arrow.late .shaft,.arrow.lost .shaft{stroke:var(--fault);stroke-width:1.6}.arrow.late .head{fill:var(--fault)}.arrow.late text,.arrow.lost text{fill:var(--fault)}.arrow.lost .shaft{stroke-dasharray:5 3}.arrow.lost path{stroke:var(--fault);stroke-width:2}
.note-at circle{fill:var(--muted)}.note-at.hold circle{fill:var(--k0)}.note-at.hold text{font-weight:700}.note-at.wrong circle{fill:var(--bad)}.note-at.wrong text{fill:var(--bad);font-weight:700}.note-at.fault circle{fill:var(--fault)}.note-at.fault text{fill:var(--fault)}.note-at.server text{font-style:italic}
.flag-line{stroke:var(--text);stroke-width:.8;stroke-dasharray:2 3;pointer-events:none}
@media (max-width:700px){.scroll>table:not(.properties,.runs){min-width:620px}.batch>table:not(.runs){min-width:1000px}main{padding:10px}.verdict{padding:10px}.violation{padding:8px}nav{margin:-10px -10px 8px;padding:9px 10px}.one>article{padding-left:0}h2{font-size:19px}.facts th{width:auto;white-space:normal}.verdict h1{font-size:21px}.verdict h1 span{display:block}.in-short div{grid-template-columns:1fr;gap:0}
.properties thead{display:none}.properties td{display:block;border:0;padding:1px 0}.properties td:first-child{width:auto;padding-top:6px}.properties tr{border-bottom:1px solid var(--edge)}
.runs,.runs tbody{display:block}.runs thead tr{display:flex;flex-wrap:wrap;gap:0 12px}.runs thead th{border:0;padding:2px 0}html:not(.scripted) .runs thead{display:none}.runs thead::before{content:'sort by'}.runs td,.runs .faults{display:block;border:0;padding:1px 0;text-align:left;min-width:0;max-width:none}.runs td:empty{display:none}.runs tr{display:block;border-bottom:1px solid var(--edge);padding:6px 0}.runs .number::before{content:attr(data-of) ' '}}`;

const PAPER = `
@media print{
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
:root{${LIGHT}}
main{max-width:none;padding:0}
.verdict,svg.sheet,tr{break-inside:avoid}.tools,#tip,#state,nav,button:not(.term){display:none}.on-paper{display:block}#chart{max-height:none}.story{grid-template-columns:1fr!important}.story .drawn{position:static!important}
h2,h3{break-after:avoid}
svg.sheet{min-width:0}.scroll{overflow:visible}
}`;

export const STYLE = new Markup(
  `:root{color-scheme:light dark;${LIGHT}}@media (prefers-color-scheme:dark){:root{${DARK}}}${PAGE}${keyRules(KEYS_LIGHT)}${DRAWING}${PAPER}`,
);
