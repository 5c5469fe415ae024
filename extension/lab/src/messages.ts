/** What a kernel may tell of itself, the data of nxkernel_lab/records/snapshot.py: what has another form is not shown. */

/** The form of the data that is understood here. */
export const VERSION = 1;

type Check<T> = (value: unknown) => value is T;
type Of<C> = C extends Check<infer T> ? T : never;

const text: Check<string> = (value): value is string => typeof value === 'string';
const number: Check<number> = (value): value is number => typeof value === 'number' && Number.isFinite(value);
const flag: Check<boolean> = (value): value is boolean => typeof value === 'boolean';

function only<T extends string | number>(wanted: T): Check<T> {
  return (value): value is T => value === wanted;
}

function list<T>(check: Check<T>): Check<T[]> {
  return (value): value is T[] => Array.isArray(value) && value.every(check);
}

function record<F extends Record<string, Check<unknown>>>(fields: F): Check<{ [K in keyof F]: Of<F[K]> }> {
  return (value): value is { [K in keyof F]: Of<F[K]> } =>
    typeof value === 'object' && value !== null && Object.entries(fields).every(([name, check]) => check((value as Record<string, unknown>)[name]));
}

const ms = record({ trace: number, lower: number, native: number, total: number });
const kernels = record({ compiled: number, memory: number, disk: number });

const event = record({
  id: number,
  time: number,
  kind: text,
  again: flag,
  what: text,
  function: text,
  where: text,
  cell: text,
  cell_id: text,
  reason: list(text),
  advice: text,
  notes: list(text),
  ms,
  kernels,
  calls: number
});

const sums = { compiled: number, loaded: number, traced: number, again: number, hits: number, errors: number, ms };

const caches = record({
  functions: list(
    record({ name: text, label: text, programs: number, limit: number, hits: number, bytes: number, oldest: number, latest: number, signatures: list(text) })
  ),
  memory: record({ kernels: number, programs: number, bytes: number, oldest: number }),
  disk: record({
    on: flag,
    folder: text,
    kernels: number,
    kernel_bytes: number,
    records: number,
    record_bytes: number,
    others: number,
    other_bytes: number,
    bytes: number,
    limit: number,
    whole: flag,
    oldest: number
  })
});

const news = record({
  kind: only('news'),
  version: only(VERSION),
  session: text,
  cleared: number,
  time: number,
  since: number,
  last: number,
  left_out: number,
  events: list(event),
  functions: list(record({ ...sums, name: text, programs: number })),
  cells: list(
    record({ ...sums, cell: text, cell_id: text, again_last: list(record({ function: text, reason: list(text), advice: text })) })
  ),
  caches,
  status: record({ compiler: text, threads: number, processors: number, device: text, programs: number, line: text })
});

/** What became of a request to clear something; `undo` is the number by which it is undone, 0 where it cannot be. */
const done = record({ kind: only('done'), text, undo: number });
/** News of another version: nothing else is known of its form. */
const stranger = record({ kind: only('news'), version: number });

export type IEvent = Of<typeof event>;
export type INews = Of<typeof news>;
export type IDone = Of<typeof done>;

/** What a message says: null for one that is not understood, 'stranger' for one of another version. */
export function readMessage(data: unknown): INews | IDone | 'stranger' | null {
  if (news(data) || done(data)) {
    return data;
  }
  return stranger(data) && data.version !== VERSION ? 'stranger' : null;
}
