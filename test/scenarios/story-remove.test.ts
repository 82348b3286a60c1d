import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startWmco } from '../kit/wmco-process.ts';

/** `wmco sandbox --story remove` as a process. */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-story-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the story of a removal ends by itself, with the host clean and its Node gone', async () => {
  await using wmco = startWmco(['sandbox', '--story', 'remove', '--speed', '5'], { environment: { TMPDIR: folder } });
  expect(await wmco.ended()).toBe(0);
  const out = wmco.out();
  // The status is written at most once a second, so short steps before the deletion of the instance may be missing.
  expect(out).toMatch(/^ +(confirm removal|connect|inventory|cordon|drain|clean-up)$/m);
  expect(out).toMatch(/^ {3}Windows Nodes: win-1\n {3}Services of the operator on win-2: none; networks: none\n/m);
  expect(out).toMatch(/Event InstanceTeardown: Deconfigured node with addresses \[.*win-2\]/);
  expect([wmco.err(), readdirSync(folder)]).toEqual(['', []]);
}, 180_000);
