/** Every report that a run's folder gets: file name → how to make it. */
import { htmlReport } from './html.js';
import type { ReportInput } from './input.js';
import { junitXml } from './junit.js';

export type { ReportInput } from './input.js';
export { closingSummary, type JsonSummary, jsonSummary, type SummaryInput } from './summary.js';
export { htmlReport, junitXml };

export const reports = {
  'report.html': htmlReport,
  'junit.xml': (input: ReportInput) => junitXml(input.results, input.config.failOn),
} satisfies Record<string, (input: ReportInput) => string>;
