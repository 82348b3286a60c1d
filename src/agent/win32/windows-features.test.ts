import { expect, test } from 'vitest';
import { type ProgramResult, type ProgramRun, ProgramTimeout } from './process/run-program.ts';
import { createWindowsFeatures, parseFeatureState } from './windows-features.ts';

const never = new AbortController().signal;

function info(state: string): string {
  return [
    '',
    'Deployment Image Servicing and Management tool',
    'Version: 10.0.20348.681',
    '',
    'Feature Name : Containers',
    'Display Name : Containers',
    'Description : Provides services to create and manage Windows Server Containers. State : of the art.',
    'Restart Required : Possible',
    `State : ${state}`,
    '',
    'Custom Properties:',
    '',
    'The operation completed successfully.',
    '',
  ].join('\r\n');
}

/** dism.exe that knows one feature. */
function bench(state: string, enabling: Partial<ProgramResult> | Error = { exitCode: 3010 }) {
  const runs: ProgramRun[] = [];
  const features = createWindowsFeatures(async run => {
    runs.push(run);
    const nothing = { exitCode: 0, stdout: '', stderr: '' };
    if (run.args.includes('/Get-FeatureInfo')) return { ...nothing, stdout: info(state) };
    if (enabling instanceof Error) throw enabling;
    return { ...nothing, ...enabling };
  }, 'C:\\Windows');
  return { runs, features };
}

const states: [string, string][] = [
  ['Enabled', 'enabled'],
  ['Disabled', 'disabled'],
  ['Disabled with Payload Removed', 'disabled'],
  ['Partially Installed', 'disabled'],
  ['Enable Pending', 'enable-pending'],
  ['Disable Pending', 'disable-pending'],
  ['Superseded', 'unknown'],
];
test.each(states)('knows the state "%s" as %s', async (text, want) => {
  expect(parseFeatureState(info(text))).toBe(want);
  expect(await bench(text).features.state('Containers')).toBe(want);
});

test.each(['', 'Feature Name : Containers', 'State : ', 'The State : Enabled'])(
  'does not know the state from %j',
  output => {
    expect(parseFeatureState(output)).toBe('unknown');
  },
);

test('asks in English, of the Windows that runs', async () => {
  const { runs, features } = bench('Enabled');
  await features.state('Containers');
  expect(runs).toEqual([
    {
      file: 'C:\\Windows\\System32\\dism.exe',
      args: ['/Online', '/English', '/Get-FeatureInfo', '/FeatureName:Containers'],
      limitMs: 300_000,
    },
  ]);
});

const enabled: [string, string, Partial<ProgramResult>, boolean, number][] = [
  ['a feature that is off, with a reboot', 'Disabled', { exitCode: 3010 }, true, 2],
  ['a feature that is off, without a reboot', 'Disabled', { exitCode: 0 }, false, 2],
  ['a feature whose removal is pending', 'Disable Pending', { exitCode: 3010 }, true, 2],
  ['a feature whose state is unknown', 'Superseded', { exitCode: 0 }, false, 2],
  ['a feature that is on: nothing to do', 'Enabled', {}, false, 1],
  ['a feature that waits for its reboot: nothing to do', 'Enable Pending', {}, true, 1],
];
for (const [name, state, enabling, want, count] of enabled) {
  test(`enables ${name}`, async () => {
    const { runs, features } = bench(state, enabling);
    expect(await features.enable('Containers', never)).toBe(want);
    expect(runs).toHaveLength(count);
    expect(runs.every(run => run.signal === never)).toBe(true);
  });
}

test('enables a feature with all it needs and leaves the reboot to the operator', async () => {
  const { runs, features } = bench('Disabled');
  await features.enable('Containers', never);
  expect(runs[1]?.args).toEqual([
    '/Online',
    '/English',
    '/Enable-Feature',
    '/FeatureName:Containers',
    '/All',
    '/NoRestart',
  ]);
  expect(runs[1]?.limitMs).toBe(1_800_000);
});

const failures: [string, Partial<ProgramResult>, string][] = [
  [
    'a feature that Windows does not have',
    { exitCode: 0x800f_080c, stdout: '\r\nError: 0x800f080c\r\n\r\nFeature name Containers is unknown.\r\n' },
    'dism.exe ended with code 0x800f080c for feature Containers: "Error: 0x800f080c Feature name Containers is unknown."',
  ],
  [
    'missing rights',
    { exitCode: 740, stdout: 'Error: 740\r\n\r\nElevated permissions are required to run DISM.\r\n' },
    'dism.exe ended with code 740 for feature Containers: "Error: 740 Elevated permissions are required to run DISM."',
  ],
  ['no words at all', { exitCode: 87 }, 'dism.exe ended with code 87 for feature Containers'],
  [
    'words on the error output',
    { exitCode: 1, stderr: 'Error: it broke' },
    'dism.exe ended with code 1 for feature Containers: "Error: it broke"',
  ],
];
test.each(failures)('tells that enabling failed: %s', async (_, enabling, message) => {
  await expect(bench('Disabled', enabling).features.enable('Containers', never)).rejects.toMatchObject({
    code: 'PROGRAM_FAILED',
    message,
    remedy: expect.stringContaining('dism.log') as string,
  });
});

test('tells that enabling took too long', async () => {
  const { features } = bench('Disabled', new ProgramTimeout('x'));
  await expect(features.enable('Containers', never)).rejects.toMatchObject({
    code: 'PROGRAM_TIMEOUT',
    message: 'dism.exe did not end within 1800 s for feature Containers',
    remedy: expect.stringMatching(/./) as string,
  });
});

test('gives on that the agent is to stop', async () => {
  const stop = new Error('stop');
  await expect(bench('Disabled', stop).features.enable('Containers', never)).rejects.toBe(stop);
});
