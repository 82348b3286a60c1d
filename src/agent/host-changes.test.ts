import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { orderedRebootFile } from '#contract/paths.ts';
import { ModelHost } from '../../test/kit/model-host.ts';
import { enableContainers, rebootHost, renameHost } from './host-changes.ts';
import type { FeatureState } from './ports.ts';

const never = new AbortController().signal;

test('reboots in the boot that was seen', async () => {
  const host = new ModelHost();
  expect(await rebootHost('boot-1', 3, host)).toEqual({ rebooting: true, inSeconds: 3 });
  expect(host.log.at(-1)).toBe('reboot in 3 s');
  expect(host.fileTexts.get(orderedRebootFile)).toBe('boot-1');
});

test.each(['boot-0', 'boot-2', 'BOOT-1', ''])('does not reboot for the boot ID %j', async seen => {
  const host = new ModelHost();
  expect(await rebootHost(seen, 3, host)).toEqual({ rebooting: false, why: 'already rebooted' });
  expect(host.log).toEqual([]);
});

test('does not reboot again when the command is repeated after the reboot', async () => {
  const host = new ModelHost();
  const seen = await host.system.bootId();
  await rebootHost(seen, 0, host);
  await host.reboot();
  expect(await rebootHost(seen, 0, host)).toMatchObject({ rebooting: false });
});

const renames: [string, string, object][] = [
  ['another name', 'win-2', { hostName: 'win-2', netbiosName: 'WIN-2', changed: true, rebootNeeded: true }],
  ['the same name', 'win-1', { hostName: 'win-1', netbiosName: 'WIN-1', changed: false, rebootNeeded: false }],
  ['the same name in capitals', 'WIN-1', { hostName: 'win-1', changed: false, rebootNeeded: false }],
  ['15 characters', 'winworker-abcde', { netbiosName: 'WINWORKER-ABCDE', changed: true }],
  ['16 characters', 'winworker-abcdef', { hostName: 'winworker-abcdef', netbiosName: 'WINWORKER-ABCDE' }],
  ['63 characters', 'a'.repeat(63), { netbiosName: 'A'.repeat(15), changed: true }],
  ['one character', 'a', { netbiosName: 'A', changed: true }],
  ['digits and a letter', '1a', { changed: true }],
];
for (const [name, given, want] of renames) {
  test(`gives a host ${name}`, async () => {
    expect(await renameHost(given, new ModelHost().system)).toMatchObject(want);
  });
}

const noNames: [string, string, string][] = [
  ['nothing', '', 'it has 0 characters'],
  ['64 characters', 'a'.repeat(64), 'it has 64 characters'],
  ['a domain', 'win.example.com', 'it is not a DNS label'],
  ['an underscore', 'win_1', 'it is not a DNS label'],
  ['a blank', 'win 1', 'it is not a DNS label'],
  ['a hyphen at the beginning', '-win', 'it is not a DNS label'],
  ['a hyphen at the end', 'win-', 'it is not a DNS label'],
  ['letters of other languages', 'größe', 'it is not a DNS label'],
  ['a line break at the end', 'win\n', 'it is not a DNS label'],
  ['digits only', '12345', 'it has only digits'],
];
for (const [name, given, message] of noNames) {
  test(`does not take ${name} as a name`, async () => {
    const host = new ModelHost();
    await expect(renameHost(given, host.system)).rejects.toMatchObject({
      code: 'HOST_NAME_INVALID',
      message: expect.stringContaining(message),
      remedy: expect.stringMatching(/./),
    });
    expect(host.log).toEqual([]);
  });
}

test('renames with effect at the next boot, and can be repeated until then', async () => {
  const host = new ModelHost();
  await renameHost('win-2', host.system);
  expect(await renameHost('win-2', host.system)).toMatchObject({ changed: true, rebootNeeded: true });
  await host.reboot();
  expect(await renameHost('win-2', host.system)).toMatchObject({ changed: false, rebootNeeded: false });
});

test('accepts only names that a Windows host can have', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '9', '-', '.', '_', ' '), maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(text, async name => {
      const renamed = await renameHost(name, new ModelHost().system).then(
        () => true,
        () => false,
      );
      expect(renamed).toBe(/^(?!-)(?!\d+$)[a-z0-9-]{1,63}(?<!-)$/i.test(name));
    }),
    { numRuns: 1000 },
  );
});

const features: [FeatureState, object, string[]][] = [
  ['enabled', { before: 'enabled', changed: false, rebootNeeded: false }, []],
  ['enable-pending', { before: 'enable-pending', changed: false, rebootNeeded: true }, []],
  ['disabled', { before: 'disabled', changed: true, rebootNeeded: true }, ['enable containers']],
  ['disable-pending', { before: 'disable-pending', changed: true, rebootNeeded: true }, ['enable containers']],
  ['unknown', { before: 'unknown', changed: true, rebootNeeded: true }, ['enable containers']],
];
for (const [state, want, calls] of features) {
  test(`switches containers on where they are ${state}`, async () => {
    const host = new ModelHost();
    host.state.containersFeature = state;
    expect(await enableContainers(host.system, never)).toEqual(want);
    expect(host.log).toEqual(calls);
  });
}

test('reports no reboot when Windows requires none', async () => {
  const host = new ModelHost();
  host.state.containersFeature = 'disabled';
  host.system.enableContainers = async () => false;
  expect(await enableContainers(host.system, never)).toMatchObject({ changed: true, rebootNeeded: false });
});

test('enables Containers after the reboot, however often it was requested', async () => {
  const host = new ModelHost();
  host.state.containersFeature = 'disabled';
  for (const _ of [1, 2]) await enableContainers(host.system, never);
  await host.reboot();
  expect(await enableContainers(host.system, never)).toMatchObject({ changed: false, rebootNeeded: false });
});
