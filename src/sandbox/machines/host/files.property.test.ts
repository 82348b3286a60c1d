import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { ContentStore } from './content-store.ts';
import { SimulatedFiles } from './files.ts';

/** The same as a plain map of texts by path in small letters. */
class Model {
  readonly texts = new Map<string, string>();

  write(path: string, text: string): void {
    this.texts.set(path.toLowerCase(), text);
  }

  remove(path: string): void {
    this.texts.delete(path.toLowerCase());
  }

  rename(from: string, to: string): void {
    const text = this.texts.get(from.toLowerCase());
    if (text === undefined || from.toLowerCase() === to.toLowerCase()) return;
    this.texts.delete(from.toLowerCase());
    this.texts.set(to.toLowerCase(), text);
  }

  removeDirectory(path: string): void {
    for (const key of this.texts.keys()) if (key.startsWith(`${path.toLowerCase()}\\`)) this.texts.delete(key);
  }
}

const paths = ['C:\\k\\a', 'c:\\K\\A', 'C:\\k\\b', 'C:\\k\\sub\\c', 'C:\\k2\\d'];
const act = fc.record({
  what: fc.constantFrom('write', 'remove', 'rename', 'folder'),
  path: fc.constantFrom(...paths),
  other: fc.constantFrom(...paths),
  // Some of it fits into memory, some has to go to the disk; several files may hold the same.
  bytes: fc.constantFrom(0, 10, 40_000, 70_000),
  letter: fc.constantFrom('a', 'b'),
});

test('after any sequence of operations files have the right content, share equal content and leave nothing behind', async () => {
  const store = await ContentStore.open();
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 20 }), async acts => {
      const pace = () => Promise.resolve();
      const files = new SimulatedFiles({ store, clock: manualClock(), diskBytes: () => 1e9, pace });
      const model = new Model();
      for (const { what, path, other, bytes, letter } of acts) {
        if (what === 'write') {
          await files.write(path, letter.repeat(bytes));
          model.write(path, letter.repeat(bytes));
        } else if (what === 'remove') {
          await files.remove(path);
          model.remove(path);
        } else if (what === 'rename') {
          await files.rename(path, other);
          model.rename(path, other);
        } else {
          await files.removeDirectory('C:\\k');
          model.removeDirectory('C:\\k');
        }
      }
      expect(
        files
          .paths()
          .map(path => path.toLowerCase())
          .toSorted(),
      ).toEqual([...model.texts.keys()].toSorted());
      for (const [path, text] of model.texts) {
        expect([await files.sha256(path), (await files.stat(path))?.bytes]).toEqual([sha256(text), text.length]);
      }
      const texts = [...model.texts.values()];
      expect(files.freeBytes).toBe(1e9 - texts.reduce((sum, text) => sum + text.length, 0));
      expect(store.size).toBe(new Set(texts.filter(text => text.length > 32 * 1024)).size);
      await files.wipe();
      expect(store.size).toBe(0);
    }),
    { numRuns: 60 },
  );
  await store.close();
});
