import { expect, test } from 'vitest';
import { type ProgramResult, type ProgramRun, ProgramTimeout } from './process/run-program.ts';
import { createContainersFeature, parseFeatureState } from './windows-features.ts';

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

/** A dism.exe with one feature. */
function bench(state: string, enabling: Partial<ProgramResult> | Error = { exitCode: 3010 }) {
  const runs: ProgramRun[] = [];
  const containers = createContainersFeature(async run => {
    runs.push(run);
    const nothing = { exitCode: 0, stdout: '', stderr: '' };
    if (run.args.includes('/Get-FeatureInfo')) return { ...nothing, stdout: info(state) };
    if (enabling instanceof Error) throw enabling;
    return { ...nothing, ...enabling };
  }, 'C:\\Windows');
  return { runs, containers };
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
test.each(states)('parses the state "%s" as %s', async (text, want) => {
  expect(parseFeatureState(info(text))).toBe(want);
  expect(await bench(text).containers.containersFeature()).toBe(want);
});

test.each(['', 'Feature Name : Containers', 'State : ', 'The State : Enabled'])(
  'parses %j as an unknown state',
  output => {
    expect(parseFeatureState(output)).toBe('unknown');
  },
);

test('queries the running Windows, in English', async () => {
  const { runs, containers } = bench('Enabled');
  await containers.containersFeature();
  expect(runs).toEqual([
    {
      file: 'C:\\Windows\\System32\\dism.exe',
      args: ['/Online', '/English', '/Get-FeatureInfo', '/FeatureName:Containers'],
      limitMs: 300_000,
    },
  ]);
});

test.each([
  [3010, true],
  [0, false],
])('reads from exit code %i whether a reboot is required: %s', async (exitCode, want) => {
  const { runs, containers } = bench('Disabled', { exitCode });
  expect(await containers.enableContainers(never)).toBe(want);
  expect(runs.map(run => run.signal)).toEqual([never]);
});

test('enables the feature with its dependencies and leaves the reboot to the operator', async () => {
  const { runs, containers } = bench('Disabled');
  await containers.enableContainers(never);
  expect(runs[0]?.args).toEqual([
    '/Online',
    '/English',
    '/Enable-Feature',
    '/FeatureName:Containers',
    '/All',
    '/NoRestart',
  ]);
  expect(runs[0]?.limitMs).toBe(1_800_000);
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
test.each(failures)('reports that enabling failed: %s', async (_, enabling, message) => {
  await expect(bench('Disabled', enabling).containers.enableContainers(never)).rejects.toMatchObject({
    code: 'PROGRAM_FAILED',
    message,
    remedy: expect.stringContaining('dism.log') as string,
  });
});

test('reports that enabling took too long', async () => {
  const { containers } = bench('Disabled', new ProgramTimeout('x'));
  await expect(containers.enableContainers(never)).rejects.toMatchObject({
    code: 'PROGRAM_TIMEOUT',
    message: 'dism.exe did not end within 1800 s for feature Containers',
    remedy: expect.stringMatching(/./) as string,
  });
});

test('passes on the abort of the agent', async () => {
  const stop = new Error('stop');
  await expect(bench('Disabled', stop).containers.enableContainers(never)).rejects.toBe(stop);
});
