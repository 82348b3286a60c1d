import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { file } from '#contract/paths.ts';
import { withoutSecrets } from '#base/without-secrets.ts';
import { endOf, type LogFiles, logPathOf, withLastLines } from './service-log.ts';

const commands: [command: string, path: string | undefined][] = [
  [`${file.containerd} --log-file ${file.containerdLog} --run-service`, file.containerdLog],
  [`${file.logRunner} -log-file=${file.kubeletLog} -log-file-size=100M ${file.kubelet}`, file.kubeletLog],
  [`${file.csiProxy} -log_file=${file.csiProxyLog} -logtostderr=false`, file.csiProxyLog],
  [`${file.hybridOverlay} --logfile ${file.hybridOverlayLog}`, file.hybridOverlayLog],
  [`${file.exporter} --log.level info --log.file ${file.exporterLog}`, file.exporterLog],
  [`${file.azureCloudNodeManager} --windows-service`, undefined],
  [`x.exe --log-file C:\\k\\kubeconfig`, undefined],
  [`x.exe --log-file C:\\var\\log\\..\\..\\k\\kubeconfig`, undefined],
  ['', undefined],
];
for (const [command, path] of commands)
  test(`the log of ${command || 'no command'} is ${path}`, () => expect(logPathOf(command)).toBe(path));

const jwt = 'eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJrdWJlIn0.c2lnbmF0dXJl';
const lines: [line: string, shown: string][] = [
  [
    'level=fatal msg="cannot open C:\\k\\containerd\\containerd_conf.toml"',
    'level=fatal msg="cannot open C:\\k\\containerd\\containerd_conf.toml"',
  ],
  ['time="2026-03-01T12:00:00.123456789Z" level=error', 'time="2026-03-01T12:00:00.123456789Z" level=error'],
  [`Authorization: Bearer ${jwt}`, 'Auth <redacted>'],
  [`got ${jwt}.`, 'got <redacted>'],
  ['password=hunter2 user=x', 'pass <redacted>'],
  ['proxy https://user:pa/ss@reg failed', 'proxy https://<redacted>@reg failed'],
  ['pwd: hunter2', 'pwd <redacted>'],
  ['level=error module=containerd namespace=k8s.io', 'level=error module=containerd namespace=k8s.io'],
  ['X-Header: dXNlcjpwdw==', 'X-Header: <redacted>'],
  ['"token": "abc"', '"token <redacted>'],
  ['proxy http://user:pw@proxy:3128 failed', 'proxy http://<redacted>@proxy:3128 failed'],
  ['MIIEpAIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gun', '<redacted>'],
];
for (const [line, shown] of lines) test(`shows ${line}`, () => expect(withoutSecrets(line)).toBe(shown));

test('shows the last five lines and at most 300 characters', () => {
  const text = Array.from({ length: 9 }, (_, index) => `line ${index}\r\n`).join('\n');
  expect(endOf(text, false)).toBe('line 4 | line 5 | line 6 | line 7 | line 8');
  const long = endOf('word '.repeat(500), false);
  expect([long.length, long.startsWith('...')]).toEqual([300, true]);
  expect(endOf(`cut token\nwhole\n`, true)).toBe('whole');
  expect(endOf('\u001b[31mred\n', false)).toBe('\\u001b[31mred');
});

const filesWith = (text: string): LogFiles => ({
  stat: async () => ({ bytes: text.length, modifiedMs: 0 }),
  async *readChunks(_path, from = 0) {
    yield Buffer.from(text.slice(from));
  },
});
const failure = new AppError('SERVICE_NOT_SETTLED', 'service containerd stopped', { remedy: 'Look.' });
const command = `${file.containerd} --log-file ${file.containerdLog}`;

test('the error of a service has the end of its log and the command to read more', async () => {
  const files = filesWith(`${'x'.repeat(9000)}\nfailed to load plugin\n`);
  expect(await withLastLines(failure, command, files)).toMatchObject({
    code: 'SERVICE_NOT_SETTLED',
    message: `service containerd stopped; the end of its log ${file.containerdLog}: failed to load plugin`,
    remedy: expect.stringContaining(`Get-Content ${file.containerdLog} -Tail 50`),
  });
});

const unreadable: [string, LogFiles][] = [
  ['empty', filesWith('')],
  ['missing', { ...filesWith('x'), stat: async () => undefined }],
  ['unreadable', { ...filesWith('x'), stat: () => Promise.reject(new Error('denied')) }],
];
for (const [name, files] of unreadable) {
  test(`with a log that is ${name} the remedy names the Windows event log`, async () => {
    expect(await withLastLines(failure, command, files)).toMatchObject({
      message: `service containerd stopped; its log ${file.containerdLog} is empty`,
      remedy: expect.stringContaining('Get-WinEvent'),
    });
  });
}

test('other errors, and those of services without a log, stay as they are', async () => {
  const other = new Error('x');
  expect(await withLastLines(other, command, filesWith('x'))).toBe(other);
  expect(await withLastLines(failure, 'x.exe', filesWith('x'))).toBe(failure);
});
