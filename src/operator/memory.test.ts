import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** In processes of their own: what it changes holds for all that is in one. */
function megabytesAfter(prepare: string, work: string, space: string): number {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    ${prepare}
    ${work}
    const found = getHeapSpaceStatistics().find(({ space_name: name }) => name === ${JSON.stringify(space)});
    console.log(found.space_size / 1e6);`;
  const module = ['--input-type=module', '--eval', program];
  return Number(execFileSync(process.execPath, module, { encoding: 'utf8' }));
}

const lean = `import { limitMemory } from ${JSON.stringify(import.meta.resolve('./memory.ts'))}; limitMemory();`;
/** What lives long enough to be kept, and then is thrown away. */
const work = `
  const kept = [];
  for (let at = 0; at < 3_000_000; at += 1) kept[at % 100_000] = { at, text: 'x' + at };`;

test('the memory for new objects stays small, however many are made', () => {
  const megabytes = megabytesAfter(lean, work, 'new_space');
  expect(megabytes).toBeGreaterThan(0);
  expect(megabytes).toBeLessThan(10);
});

test('without it, it grows: the day this fails it is no longer needed', () => {
  expect(megabytesAfter('', work, 'new_space')).toBeGreaterThan(20);
});

test('the memory for old objects does not become several times what is in use', () => {
  expect(megabytesAfter(lean, work, 'old_space')).toBeLessThan(40);
});

test('nothing that is needed is lost', () => {
  const sum = `const all = Array.from({ length: 300_000 }, (_, at) => ({ at })); if (all.some(({ at }, index) => at !== index)) throw 1;`;
  expect(megabytesAfter(lean, sum, 'old_space')).toBeGreaterThan(1);
});
