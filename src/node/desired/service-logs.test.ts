import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { defaultFacts } from '../../../test/kit/fixed-facts.ts';
import { repositoryRoot } from '../../../test/kit/run-wmco.ts';
import { notRotated, isRotating, overlayLogFlags, serviceLogs } from './service-logs.ts';
import { servicesManifest } from './services.ts';

const off = { fileSize: '', fileAge: '', flushInterval: '' };
const on = { fileSize: '100M', fileAge: '168h', flushInterval: '5s' };
const commands = (logRotation: typeof off) =>
  servicesManifest({ ...defaultFacts, platform: 'Azure' }, { debug: false, logRotation }).services;
const commandOf = (name: string, logRotation: typeof off) =>
  commands(logRotation).find(service => service.name === name)?.command;

test('LOG-01: every service is in the table, with the log of its command', () => {
  expect(serviceLogs.map(({ service }) => service)).toEqual(commands(on).map(({ name }) => name));
  for (const { service, file } of serviceLogs) {
    for (const rotation of [off, on])
      expect(commandOf(service, rotation)?.includes(file ?? 'log-file')).toBe(file !== undefined);
  }
});

test('LOG-03: kube-log-runner runs exactly the services of the table when logs are rotated', () => {
  const runner = 'C:\\k\\kube-log-runner.exe -log-file=';
  const run = (rotation: typeof off) =>
    commands(rotation)
      .filter(({ command }) => command.startsWith(runner))
      .map(({ name }) => name);
  expect(run(on)).toEqual(
    serviceLogs.filter(({ rotatedBy }) => rotatedBy === 'kube-log-runner').map(({ service }) => service),
  );
  expect(run(off)).toEqual(['kubelet', 'kube-proxy']);
});

test('LOG-03: csi-proxy keeps its own log without rotation, and prints it for kube-log-runner with it', () => {
  const log = 'C:\\var\\log\\csi-proxy\\csi-proxy.log';
  expect(commandOf('csi-proxy', off)).toBe(
    `C:\\k\\csi-proxy.exe -log_file=${log} -logtostderr=false -windows-service --v=2`,
  );
  expect(commandOf('csi-proxy', on)).toBe(
    `C:\\k\\kube-log-runner.exe -log-file=${log} -log-file-size=100M -log-file-age=168h -flush-interval=5s ` +
      'C:\\k\\csi-proxy.exe -windows-service --v=2',
  );
});

const flags: [fileSize: string, fileAge: string, want: string][] = [
  ['', '', ''],
  ['', '168h', ''],
  ['0', '168h', ''],
  ['100M', '', '--logfile-maxsize 96'],
  ['100Mi', '168h', '--logfile-maxsize 100 --logfile-maxage 7'],
  ['1', '1s', '--logfile-maxsize 1 --logfile-maxage 1'],
  ['100Mi', '0s', '--logfile-maxsize 100'],
  ['100Mi', '25h', '--logfile-maxsize 100 --logfile-maxage 2'],
  ['7E', '', '--logfile-maxsize 1048576'],
];
for (const [fileSize, fileAge, want] of flags) {
  test(`hybrid-overlay with size "${fileSize}" and age "${fileAge}" has the flags "${want}"`, () => {
    const rotation = { ...off, fileSize, fileAge };
    expect(overlayLogFlags(rotation).join(' ')).toBe(want);
    expect(isRotating(rotation)).toBe(want !== '');
  });
}

test('names the services whose logs are not rotated', () => {
  expect(notRotated(off)).toEqual(['containerd', 'kubelet', 'windows_exporter', 'csi-proxy', 'kube-proxy']);
  expect(notRotated(on)).toEqual(['containerd', 'windows_exporter']);
});

test('the table in the documentation is that of the code', () => {
  const page = readFileSync(`${repositoryRoot}/docs/logs.md`, 'utf8');
  const rows = serviceLogs.map(
    ({ service, file, rotatedBy }) =>
      `| \`${service}\` | ${file === undefined ? 'none' : `\`${file}\``} | ${rotatedBy} |`,
  );
  expect(page).toContain(`| service | log | rotated by |\n|---|---|---|\n${rows.join('\n')}\n\n`);
});
