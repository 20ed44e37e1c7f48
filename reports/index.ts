/** Every report that a run's folder gets: file name → how to make it; undefined: this run has none of it. */
import { ctrfJson } from './ctrf.js';
import { htmlReport } from './html.js';
import type { ReportInput } from './input.js';
import { junitXml } from './junit.js';
import { markdownSummary, plainMarkdown } from './markdown.js';
import { messagesText } from './sequence/text.js';
import { worstViolationSvg } from './worst.js';

export type { ReportInput } from './input.js';
export { type RunRow, runRow, runsPage } from './runs.js';
export { type Sheet, type SheetCell, sheetMarkdown, sheetPage, sheetState, sheetWords } from './sheet.js';
export { closingSummary, jsonSummary, type SummaryInput } from './summary.js';
export { wrapped } from './wrap.js';
export { htmlReport, junitXml, markdownSummary, messagesText, plainMarkdown };

export const reports = {
  'junit.xml': (input) => junitXml(input.results, input.config.failOn),
  'ctrf.json': ctrfJson,
  'summary.md': markdownSummary,
  'worst-violation.svg': worstViolationSvg,
  'messages.txt': messagesText,
  // Last: it leads to the others.
  'report.html': htmlReport,
} satisfies Record<string, (input: ReportInput) => string | undefined>;
