import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BundleEntry } from '#contract/bundle.ts';
import { file } from '#contract/paths.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { copyPath, mergeFiles, readRecord, type StagedFile, writeRecord } from './record.ts';

const hash = 'ab'.repeat(32);
const staged = (path: string, sha256 = hash): StagedFile => ({
  path,
  sha256,
  bytes: 3,
  encoding: 'none',
  secret: false,
});
const entry = (path: string, sha256 = hash): BundleEntry => ({ ...staged(path, sha256), packedBytes: 3 });
const nothing = { version: '', bundle: '', agent: '', files: [] };

test('equal content has one copy, kept apart by how it is packed', () => {
  expect(copyPath({ sha256: hash, encoding: 'none' })).toBe(`C:\\k\\staged\\${hash}`);
  expect(copyPath({ sha256: hash, encoding: 'zstd' })).toBe(`C:\\k\\staged\\${hash}.zst`);
});

const unreadable: [string, string][] = [
  ['nothing', ''],
  ['half a file', '{"version": "v1", "files": ['],
  ['a list', '[]'],
  ['files that are a text', '{"files": "x"}'],
  ['a file without a path', '{"files": [{"sha256": "x"}]}'],
  ['a file without a hash', '{"files": [{"path": "x"}]}'],
  ['a size in words', '{"files": [{"path": "x", "sha256": "x", "bytes": "3"}]}'],
];
for (const [name, text] of unreadable) {
  test(`treats ${name} as a missing record`, async () => {
    const host = new ModelHost();
    host.fileTexts.set(file.stagedRecord, text);
    expect(await readRecord(host.files)).toEqual(nothing);
  });
}

test('has no record on a host without the file', async () => {
  expect(await readRecord(new ModelHost().files)).toEqual(nothing);
});

test('uses defaults for missing fields', async () => {
  const host = new ModelHost();
  host.fileTexts.set(file.stagedRecord, '{"files": [{"path": "p", "sha256": "h", "encoding": "later"}], "later": 1}');
  const files = [{ path: 'p', sha256: 'h', bytes: 0, encoding: 'none', secret: false }];
  expect(await readRecord(host.files)).toEqual({ ...nothing, files });
});

const merges: [string, StagedFile[], BundleEntry[], string[], StagedFile[]][] = [
  ['keeps what a bundle does not speak of', [staged('a')], [entry('b')], [], [staged('a'), staged('b')]],
  ['replaces a file', [staged('a', 'old'), staged('b')], [entry('a', 'new')], [], [staged('b'), staged('a', 'new')]],
  ['replaces another spelling of it', [staged('A', 'old')], [entry('a', 'new')], [], [staged('a', 'new')]],
  ['forgets a file that goes', [staged('a'), staged('b')], [], ['A'], [staged('b')]],
  ['forgets what was never there', [], [], ['a'], []],
];
for (const [name, before, entries, remove, want] of merges) {
  test(name, () => expect(mergeFiles(before, entries, remove)).toEqual(want));
}

test('reads what it has written', async () => {
  const text = fc.string();
  const one = fc.record({
    path: text,
    sha256: text,
    bytes: fc.nat(),
    encoding: fc.constantFrom('none' as const, 'zstd' as const),
    secret: fc.boolean(),
  });
  const record = fc.record({ version: text, bundle: text, agent: text, files: fc.array(one) });
  await fc.assert(
    fc.asyncProperty(record, async given => {
      const host = new ModelHost();
      await writeRecord(given, host.files);
      expect(await readRecord(host.files)).toEqual(given);
    }),
    { numRuns: 200 },
  );
});
