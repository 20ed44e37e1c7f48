/** The columns of a history: what each holds, and which field of which event it comes from. Their meaning: `vocabulary/history.ts`. */
import type { HistoryEvent, Notices, Operations, OpName } from '../vocabulary/history.js';
import { coded, type FieldMap, indexes, numbers, type SpecificationOf, texts, wordsOf } from './column-table.js';

export const OP = { acquire: 0, release: 1, extend: 2, clock: 3, read: 4, write: 5 } as const satisfies Record<
  OpName,
  number
>;
export const OUTCOME = { ok: 0, fail: 1, info: 2, none: 3 } as const;
/** Of an acquire: `exclusive` where no mode was given. */
export const MODE = { exclusive: 0, write: 1, read: 2 } as const;
export const NOTICE = { renewed: 0, lost: 1, step: 2 } as const;

export type InvokeEvent = Extract<HistoryEvent, { type: 'invoke' }>;
export type CompletionEvent = Extract<HistoryEvent, { type: 'ok' | 'fail' | 'info' }>;
export type NoticeEvent = Extract<HistoryEvent, { type: 'renewed' | 'lost' | 'step' }>;
type NoticeOf<Type> = Extract<NoticeEvent, { type: Type }>;

export const OPERATION_COLUMNS = {
  client: texts('clients'),
  key: texts('keys'),
  op: coded(OP),
  mode: coded(MODE, MODE.exclusive),
  outcome: coded(OUTCOME, OUTCOME.none),
  reason: texts('reasons'),
  hold: indexes,
  invokeLine: indexes,
  completionLine: indexes,
  id: numbers,
  sentNs: numbers,
  readNs: numbers,
  beganNs: numbers,
  endedNs: numbers,
  leaseFromNs: numbers,
  leaseMs: numbers,
  waitMs: numbers,
  validForMs: numbers,
  token: numbers,
  value: numbers,
  version: numbers,
  cancelledNs: numbers,
} as const satisfies SpecificationOf<Operations>;

export const NOTICE_COLUMNS = {
  type: coded(NOTICE),
  line: indexes,
  client: indexes,
  hold: indexes,
  text: texts('texts'),
  atNs: numbers,
  clientNs: numbers,
  leaseMs: numbers,
} as const satisfies SpecificationOf<Notices>;

// `hold` is in none of the maps: an event names it by the acquire's id, the column by its row.

type OperationFields<Field extends PropertyKey> = FieldMap<Field, typeof OPERATION_COLUMNS>;
type NoticeFields<Field extends PropertyKey> = FieldMap<Field, typeof NOTICE_COLUMNS>;

/** Said by the invoke, and again by the completion. */
export const COMMON_FIELDS = {
  client: 'client',
  id: 'id',
  op: 'op',
  key: 'key',
} as const satisfies OperationFields<keyof InvokeEvent & keyof CompletionEvent & ('client' | 'id' | 'op' | 'key')>;

type Own<Event> = Exclude<keyof Event, 'hold' | keyof typeof COMMON_FIELDS>;

export const INVOKE_FIELDS = {
  i: 'invokeLine',
  atNs: 'sentNs',
  leaseMs: 'leaseMs',
  waitMs: 'waitMs',
  mode: 'mode',
  value: { column: 'value', where: ['op', ['write']] },
} as const satisfies OperationFields<Exclude<Own<InvokeEvent>, 'type'>>;

export const COMPLETION_FIELDS = {
  i: 'completionLine',
  atNs: 'readNs',
  type: 'outcome',
  beganNs: 'beganNs',
  endedNs: 'endedNs',
  reason: 'reason',
  sentNs: { column: 'leaseFromNs', where: ['op', wordsOf(OP).filter((op) => op !== 'acquire')] },
  grantSentNs: { column: 'leaseFromNs', where: ['op', ['acquire']] },
  token: 'token',
  validForMs: 'validForMs',
  wallMs: { column: 'value', where: ['op', ['clock']] },
  value: { column: 'value', where: ['op', ['read']] },
  version: 'version',
  cancelledNs: 'cancelledNs',
} as const satisfies OperationFields<Own<CompletionEvent>>;

const everyNotice = { i: 'line', atNs: 'atNs', type: 'type' } as const;

/** Without `client` and `key`, which are the operations' own: the hold's row has the key. */
export const NOTICE_FIELDS = {
  renewed: { ...everyNotice, sentNs: 'clientNs', leaseMs: 'leaseMs' },
  lost: { ...everyNotice, clientNs: 'clientNs', reason: 'text' },
  step: { ...everyNotice, name: 'text', clientNs: 'clientNs' },
} as const satisfies {
  [T in NoticeEvent['type']]: NoticeFields<Exclude<keyof NoticeOf<T>, 'client' | 'hold' | 'key'>>;
};
