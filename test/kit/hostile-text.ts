import * as fc from 'fast-check';

/** What people have been sent to change what their terminal shows. */
const attacks = [
  '\u001b[2J\u001b[H',
  '\u001b[31mFailed\u001b[0m',
  '\u001b]0;title\u0007',
  '\u001b]8;;http://evil\u001b\\click\u001b]8;;\u001b\\',
  '\u009b31m',
  'Ready\rFailed',
  'x\b\b\b',
  '\u202edaeR\u202c',
  '\u2066a\u2069',
  'a\u200bb\u200d\ufeff',
  '\ud800',
  '\u007f',
  '\n10.0.0.9  Ready',
  '\u0085',
  '\u2028',
  '\t',
  '\u{e0041}',
];

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...attacks),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

/** Gives the replacement of each text of a value in turn. */
export const poisons = fc.array(fc.tuple(fc.constantFrom('keep', 'append', 'replace'), hostileText), {
  minLength: 1,
  maxLength: 60,
});

/** The same value with hostile texts in the place of some of its own. */
export function poisoned<T>(value: T, plan: readonly (readonly [how: string, text: string])[]): T {
  let next = 0;
  const walk = (part: unknown): unknown => {
    if (typeof part === 'string') {
      const [how, text] = plan[next++ % plan.length] ?? ['keep', ''];
      return how === 'keep' ? part : `${how === 'append' ? part : ''}${text}`;
    }
    if (Array.isArray(part)) return part.map(walk);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, walk(each)]));
  };
  return walk(value) as T;
}

/** Everything in a text that is no plain sign, but for line ends. */
export const unplain = /[^\P{Cc}\n]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
