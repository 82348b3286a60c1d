import { expect, test } from 'vitest';
import { isComputerName } from './computer-name.ts';

const names: [name: string, want: boolean][] = [
  ['win-1', true],
  ['A', true],
  ['123456789012345', true],
  ['1234567890123456', false],
  ['', false],
  ['-a', false],
  ['a-', false],
  ['a.b', false],
  ['a b', false],
  ['a\n', false],
  ['x&net user&y', false],
  ['x;calc', false],
  ['$(x)', false],
  ['wín', false],
];
for (const [name, want] of names) {
  test(`${JSON.stringify(name)} is ${want ? 'a' : 'no'} computer name`, () => expect(isComputerName(name)).toBe(want));
}
