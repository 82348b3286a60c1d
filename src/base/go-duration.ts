const nanosecondsOf: Record<string, number> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/** Milliseconds of a duration in Go's syntax (`1h30m`, `1.5h`, `0`), which all Kubernetes components use; undefined if it is none. */
export function parseGoDuration(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1;
  const body = text.replace(/^[+-]/, '');
  if (body === '0') return 0;
  let nanoseconds = 0;
  let read = 0;
  for (const [whole, count, unit = ''] of body.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    nanoseconds += Number(count) * (nanosecondsOf[unit] ?? 0);
    read += whole.length;
  }
  // Go holds a duration in 63 bits of nanoseconds, about 292 years.
  if (read === 0 || read !== body.length || nanoseconds > 2 ** 63) return undefined;
  return (sign * nanoseconds) / 1e6;
}
