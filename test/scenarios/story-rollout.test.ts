import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { startWmco } from '../kit/wmco-process.ts';

/** `wmco sandbox --story upgrade`, `--story rollback` and `--story takeover` as processes. */

function temporaryFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'wmco-story-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const play = (story: string, { path: TMPDIR }: { path: string }) =>
  startWmco(['sandbox', '--story', story, '--speed', '5'], { environment: { TMPDIR } });
const outOfService = (host: string) => new RegExp(`^ {3}${host} +is out of service: cordoned`, 'gm');

test.concurrent('the story of an upgrade ends by itself, with all hosts on the later version', async ({ expect }) => {
  using folder = temporaryFolder();
  await using wmco = play('upgrade', folder);
  expect(await wmco.ended(200_000)).toBe(0);
  const out = wmco.out();
  for (const host of ['win-1', 'win-2', 'win-3', 'win-4']) {
    expect(out.match(outOfService(host))).toHaveLength(1);
    expect(out).toMatch(new RegExp(`^ {3}${host} +has soaked: `, 'm'));
    expect(out).toMatch(
      new RegExp(`^ {3}${host} +runs (\\S+), keeps (?!\\1)\\S+ to go back; its Node was out of service for `, 'm'),
    );
  }
  expect(out).toMatch(/At most [12] of 4 Nodes were out of service at once/);
  expect([wmco.err(), readdirSync(folder.path)]).toEqual(['', []]);
}, 240_000);

test.concurrent('the story of a roll-back ends by itself, after the next version has repaired it', async ({
  expect,
}) => {
  using folder = temporaryFolder();
  await using wmco = play('rollback', folder);
  expect(await wmco.ended(300_000)).toBe(0);
  const out = wmco.out();
  const [before = '', after = ''] = out.split('5. The operator');
  const touched = ['win-1', 'win-2', 'win-3'].filter(host => before.match(outOfService(host)) !== null);
  expect(touched).toHaveLength(1);
  expect(before).toMatch(new RegExp(`^ {3}${touched[0]} +failed: [A-Z_]+: .*\n( .*\n)* {3}${touched[0]} +runs `, 'm'));
  expect(before).toContain(`rollout retry ${touched[0]}`);
  for (const host of ['win-1', 'win-2', 'win-3']) expect(after).toMatch(new RegExp(`${host} +has soaked: `));
  expect([wmco.err(), readdirSync(folder.path)]).toEqual(['', []]);
}, 360_000);

test.concurrent('the story of a take-over from the Go operator ends by itself, with nothing of it left', async ({
  expect,
}) => {
  using folder = temporaryFolder();
  await using wmco = play('takeover', folder);
  expect(await wmco.ended(200_000)).toBe(0);
  const out = wmco.out();
  for (const host of ['win-1', 'win-2', 'win-3', 'win-4']) {
    expect(out.match(outOfService(host))).toHaveLength(1);
    expect(out).toMatch(new RegExp(`^ {3}${host} was out of service for \\S+ m?s; it was not rebooted`, 'm'));
  }
  expect(out).toMatch(/At most [12] of 4 Nodes were out of service at once/);
  expect(out.match(/^ {3}gone: /gm)).toHaveLength(3);
  expect([wmco.err(), readdirSync(folder.path)]).toEqual(['', []]);
}, 240_000);
