/** Numbers as people read them, in the units that nxkernel/messages/quantities.py uses. */

/** @type {[number, string][]} */
const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
/** @type {[number, string][]} */
const AGES = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];

/** A time, in milliseconds, in the unit that suits it. @param {number} ms */
export function duration(ms) {
  if (ms > 0 && ms < 0.0009995) return `${(ms * 1e6).toFixed(0)} ns`;
  if (ms < 0.9995) return `${(ms * 1e3).toFixed(0)} µs`;
  if (ms < 999.5) return `${ms.toFixed(ms < 9.95 ? 1 : 0)} ms`;
  return `${(ms / 1e3).toFixed(1)} s`;
}

/** A number of bytes. @param {number} number */
export function bytes(number) {
  for (const [factor, prefix] of PREFIXES) if (number >= factor) return `${(number / factor).toFixed(1)} ${prefix}B`;
  return `${number} B`;
}

/** A number and its noun. @param {number} number @param {string} noun */
export function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** How long ago something was, in seconds. @param {number} seconds */
export function ago(seconds) {
  for (const [size, unit] of AGES) if (seconds >= size) return `${counted(Math.floor(seconds / size), unit)} ago`;
  return "just now";
}

/** The time of day. @param {number} seconds since the epoch */
export function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString([], { hour12: false });
}
