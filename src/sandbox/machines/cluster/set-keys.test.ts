import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { setKeys } from './set-keys.ts';

function scene() {
  const set: (readonly string[])[] = [];
  const host = { setAuthorizedKeys: async (lines: readonly string[]) => void set.push(lines) };
  const request = setKeys({
    find: address => (address === '10.0.1.12' ? host : undefined),
    host: name => {
      throw new AppError('USAGE', `no host ${name}`, { remedy: 'Choose another.' });
    },
  });
  return { set, request };
}

const values: [value: string, lines: string[], said: RegExp][] = [
  ['ssh-ed25519 AAAA', ['ssh-ed25519 AAAA'], /has 1 line$/],
  ['# two\nssh-ed25519 AAAA\n\n', ['# two', 'ssh-ed25519 AAAA'], /has 2 lines$/],
  ['', [], /has 0 lines$/],
];
for (const [value, lines, said] of values) {
  test(`${JSON.stringify(value)} is the content of the file afterwards`, () => {
    const { set, request } = scene();
    expect(request.run('10.0.1.12', value)).toMatch(said);
    expect(set).toEqual([lines]);
  });
}

test('an unknown host is refused', () => {
  expect(() => scene().request.run('10.9.9.9', 'x')).toThrow('no host 10.9.9.9');
});
