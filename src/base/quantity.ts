/** A Kubernetes resource quantity as an exact fraction, e.g. `1.5Gi`, `100m`, `2e3`. */
export interface Quantity {
  numerator: bigint;
  denominator: bigint;
}

const grammar = /^([+-]?)(\d+)?(?:\.(\d*))?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d{1,3})?$/;

const decimal: Record<string, bigint> = {
  k: 10n ** 3n,
  M: 10n ** 6n,
  G: 10n ** 9n,
  T: 10n ** 12n,
  P: 10n ** 15n,
  E: 10n ** 18n,
};
const small: Record<string, bigint> = { n: 10n ** 9n, u: 10n ** 6n, m: 10n ** 3n };
const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

export function parseQuantity(text: string): Quantity | undefined {
  // No real quantity is longer; the limit bounds the time for hostile input.
  const match = text.length <= 64 ? grammar.exec(text) : null;
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n);
  return scale({ numerator: digits, denominator: 10n ** BigInt(fraction.length) }, suffix);
}

function scale(quantity: Quantity, suffix: string): Quantity {
  const { numerator, denominator } = quantity;
  if (suffix === '') return quantity;
  if (suffix in decimal) return { numerator: numerator * (decimal[suffix] ?? 1n), denominator };
  if (suffix in small) return { numerator, denominator: denominator * (small[suffix] ?? 1n) };
  if (binary.includes(suffix))
    return { numerator: numerator << BigInt(10 * (binary.indexOf(suffix) + 1)), denominator };
  const exponent = Number(suffix.slice(1));
  const power = 10n ** BigInt(Math.abs(exponent));
  return exponent < 0 ? { numerator, denominator: denominator * power } : { numerator: numerator * power, denominator };
}

/** The quantity in units of this size, rounded up. */
export function unitsRoundedUp(quantity: Quantity, unit: bigint): bigint {
  const divisor = quantity.denominator * unit;
  const whole = quantity.numerator / divisor;
  return quantity.numerator % divisor > 0n ? whole + 1n : whole;
}
