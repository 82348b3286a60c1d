import { expect, test } from 'vitest';
import { file } from '#contract/paths.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { readState } from '../state.ts';
import { excludeFromDefender, includeInDefender } from './defender.ts';

const add = `Add-MpPreference -ExclusionProcess '${file.containerd}' -ErrorAction Stop`;
const remove = `Remove-MpPreference -ExclusionProcess '${file.containerd}' -ErrorAction Stop`;
const exclude = (host: ModelHost, path: string = file.containerd) => excludeFromDefender(path, host, host.waiting());
const include = (host: ModelHost) => includeInDefender(host, host.waiting());
const exclusions = async (host: ModelHost) => (await readState(host.files)).defenderExclusions;
const runs = (host: ModelHost) => host.log.filter(call => call.startsWith('run '));

function hostWithDefender(): ModelHost {
  const host = new ModelHost();
  host.runningPrograms.add('msmpeng');
  host.scriptOutputs = { [add]: '', [remove]: '' };
  return host;
}

test('adds the exclusion once, however often it is requested', async () => {
  const host = hostWithDefender();
  for (const _ of [1, 2, 3]) await exclude(host);
  expect(runs(host)).toEqual([`run ${add}`]);
  expect(await exclusions(host)).toEqual([{ path: file.containerd, done: true }]);
});

test('adds no exclusion while Defender does not run, and adds it when it does', async () => {
  const host = hostWithDefender();
  host.runningPrograms.clear();
  await exclude(host);
  expect([runs(host), await exclusions(host)]).toEqual([[], []]);
  host.runningPrograms.add('msmpeng');
  await exclude(host);
  expect(runs(host)).toHaveLength(1);
});

test('tries again what failed, and remembers that something may have been done', async () => {
  const host = hostWithDefender();
  host.scriptOutputs = {};
  await expect(exclude(host)).rejects.toThrow('script failed');
  expect(await exclusions(host)).toEqual([{ path: file.containerd, done: false }]);
  host.scriptOutputs = { [add]: '' };
  await exclude(host);
  expect(await exclusions(host)).toEqual([{ path: file.containerd, done: true }]);
});

test('keeps programs apart', async () => {
  const host = hostWithDefender();
  host.scriptOutputs["Add-MpPreference -ExclusionProcess 'C:\\k\\it''s.exe' -ErrorAction Stop"] = '';
  await exclude(host);
  await exclude(host, "C:\\k\\it's.exe");
  expect((await exclusions(host)).map(({ path }) => path)).toEqual([file.containerd, "C:\\k\\it's.exe"]);
});

test.each(['', 'C:\\', 'C:\\Windows\\System32\\cmd.exe', 'C:\\k\\..\\evil.exe', 'C:\\k\\*'])(
  'does not exclude %j, which is outside of the folders of the agent',
  async path => {
    const host = hostWithDefender();
    await expect(exclude(host, path)).rejects.toMatchObject({
      code: 'SERVICES_MALFORMED',
      message: expect.stringContaining(JSON.stringify(path)),
    });
    expect(runs(host)).toEqual([]);
  },
);

test('does not wait forever', async () => {
  const host = hostWithDefender();
  host.scripts.run = () => new Promise(() => undefined);
  await expect(exclude(host)).rejects.toMatchObject({ code: 'SCRIPT_TIMEOUT', remedy: expect.stringMatching(/./) });
  expect(host.clock.ms).toBe(60_000);
});

test('reverts what was done, and forgets it', async () => {
  const host = hostWithDefender();
  await exclude(host);
  for (const _ of [1, 2]) await include(host);
  expect(runs(host)).toEqual([`run ${add}`, `run ${remove}`]);
  expect(await exclusions(host)).toEqual([]);
});

test('reverts what may have been done', async () => {
  const host = hostWithDefender();
  host.scriptOutputs = { [remove]: '' };
  await exclude(host).catch(() => undefined);
  await include(host);
  expect([runs(host).at(-1), await exclusions(host)]).toEqual([`run ${remove}`, []]);
});

test('reverts nothing without exclusions', async () => {
  const host = hostWithDefender();
  await include(host);
  expect(host.log).toEqual([]);
});

test('forgets what Defender is not there to hear', async () => {
  const host = hostWithDefender();
  await exclude(host);
  host.runningPrograms.clear();
  await include(host);
  expect([runs(host), await exclusions(host)]).toEqual([[`run ${add}`], []]);
});

test('remembers what could not be reverted', async () => {
  const host = hostWithDefender();
  await exclude(host);
  host.scriptOutputs = {};
  await expect(include(host)).rejects.toThrow('script failed');
  expect(await exclusions(host)).toHaveLength(1);
});
