import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../../test/kit/run-wmco.ts';
import { asciiText, needsAscii } from './ascii-text.ts';
import { widthOf } from './status/screen/text-width.ts';

const locales: [environment: Record<string, string>, want: boolean][] = [
  [{}, false],
  [{ LANG: '' }, false],
  [{ LANG: 'C' }, true],
  [{ LANG: 'POSIX' }, true],
  [{ LANG: 'C.UTF-8' }, false],
  [{ LANG: 'C.utf8' }, false],
  [{ LANG: 'en_US.UTF-8' }, false],
  [{ LANG: 'en_US' }, false],
  [{ LANG: 'de_DE.ISO-8859-1' }, true],
  [{ LANG: 'de_DE.ISO8859-15@euro' }, true],
  [{ LANG: 'de_DE.UTF-8@euro' }, false],
  [{ LANG: 'en_US.UTF-8', LC_ALL: 'C' }, true],
  [{ LANG: 'en_US.UTF-8', LC_CTYPE: 'C' }, true],
  [{ LANG: 'C', LC_CTYPE: 'C', LC_ALL: 'en_US.UTF-8' }, false],
  [{ LANG: 'C', LC_CTYPE: 'C.UTF-8' }, false],
  [{ LANG: 'C.UTF-8', LC_ALL: '' }, false],
];
for (const [environment, want] of locales) {
  test(`${JSON.stringify(environment)} ${want ? 'needs ASCII' : 'has UTF-8'}`, () =>
    expect(needsAscii(environment)).toBe(want));
}

const texts: [text: string, want: string][] = [
  ['plain\ttext\n', 'plain\ttext\n'],
  ['SHA256:h0HN…', 'SHA256:h0HN~'],
  ['a  …  b', 'a  ~  b'],
  ['…  b', '~  b'],
  ['… and 3 more', '... and 3 more'],
  ['  … 2 steps to come', '  ... 2 steps to come'],
  ['`kubectl get … -o yaml`', '`kubectl get ... -o yaml`'],
  ['the payload’s “file”', `the payload's "file"`],
  ['3 µs – 5 µs', '3 us - 5 us'],
  ['┌──┬──┐', '+--+--+'],
  ['Zugriff für Müller', 'Zugriff f?r M?ller'],
  ['漢字', '????'],
  ['e\u0301t\u00e9', 'et?'],
  ['\u001b[31mré\u001b[0m', '\u001b[31mr?\u001b[0m'],
];
for (const [text, want] of texts) {
  test(`prints ${JSON.stringify(text)} as ${JSON.stringify(want)}`, () => expect(asciiText(text)).toBe(want));
}

test('prints only ASCII', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text => {
      expect(asciiText(text)).toMatch(/^[\0-\x7f]*$/);
    }),
    { numRuns: 500 },
  );
});

test('keeps the width of a cut text', () => {
  for (const cut of ['win-1…', 'Grüße an 漢…', '…']) expect(widthOf(asciiText(cut))).toBe(widthOf(cut));
});

const run = promisify(execFile);
const program = join(repositoryRoot, 'src', 'bin', 'wmco.ts');

test.each([
  ['C', 'kubectl get ... -o'],
  ['C.UTF-8', 'kubectl get … -o'],
])('the program prints errors for LC_ALL=%s', async (locale, want) => {
  const options = { env: { PATH: process.env['PATH'] ?? '', LC_ALL: locale }, cwd: repositoryRoot };
  const failure: unknown = await run(process.execPath, [program, 'check', 'csr', '-f', 'README.md'], options).catch(
    (error: unknown) => error,
  );
  expect((failure as { stderr: string }).stderr).toContain(want);
});
