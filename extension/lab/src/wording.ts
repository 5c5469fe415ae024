/** Numbers as people read them, in the units that nxkernel_lab/wording.py uses. */

/** A time in the unit that suits it. */
export function duration(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds < 0.0009995) {
    return `${(milliseconds * 1e6).toFixed(0)} ns`;
  }
  if (milliseconds < 0.9995) {
    return `${(milliseconds * 1e3).toFixed(0)} µs`;
  }
  if (milliseconds < 999.5) {
    return `${milliseconds.toFixed(milliseconds < 9.95 ? 1 : 0)} ms`;
  }
  return `${(milliseconds / 1e3).toFixed(1)} s`;
}

/** A number of bytes. */
export function bytes(number: number): string {
  for (const [factor, prefix] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k']
  ] as const) {
    if (number >= factor) {
      return `${(number / factor).toFixed(1)} ${prefix}B`;
    }
  }
  return `${number} B`;
}

/** A number and its noun. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** How long ago something was, both in seconds since the epoch. */
export function ago(then: number, now: number): string {
  const seconds = Math.max(now - then, 0);
  for (const [unit, noun] of [
    [86400, 'day'],
    [3600, 'hour'],
    [60, 'minute']
  ] as const) {
    if (seconds >= unit) {
      return `${count(Math.floor(seconds / unit), noun)} ago`;
    }
  }
  return 'just now';
}

/** The time of day, in seconds since the epoch. */
export function clock(time: number): string {
  return new Date(time * 1e3).toTimeString().slice(0, 8);
}
