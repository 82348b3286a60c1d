const nanosecondsOf: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const part = String.raw`(?:(\d+)(?:\.(\d*))?|\.(\d+))(ns|us|µs|μs|ms|s|m|h)`;
const grammar = new RegExp(`^(?:${part})+$`);

/** Milliseconds of a Go duration (`1h30m`, `1.5h`, `0`); undefined when invalid. */
export function parseGoDuration(text: string): number | undefined {
  const isNegative = text.startsWith('-');
  const body = text.replace(/^[+-]/, '');
  if (body === '0') return 0;
  // No real duration is longer; the limit bounds the time for hostile input.
  if (body.length > 256 || !grammar.test(body)) return undefined;
  let nanoseconds = 0n;
  for (const [, whole = '0', fraction, bare, unit = ''] of body.matchAll(new RegExp(part, 'g'))) {
    const digits = fraction ?? bare ?? '';
    // Fractions of a nanosecond are truncated, as in Go.
    nanoseconds += (BigInt(whole + digits) * (nanosecondsOf[unit] ?? 0n)) / 10n ** BigInt(digits.length);
  }
  // Go holds a duration in 64 bits with sign, about 292 years.
  if (nanoseconds > 2n ** 63n - (isNegative ? 0n : 1n)) return undefined;
  return Number(isNegative ? -nanoseconds : nanoseconds) / 1e6;
}
