import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentName } from '#contract/names.ts';
import { payloadFor } from '#node/payload.ts';
import { startEmbeddedCluster } from '#sandbox/embedded-cluster.ts';
import { writeSigned } from '../../test/kit/payload-key.ts';
import { operatorProgram } from './program.ts';

let folder: string;
/** The default cache may belong to another user of this machine. */
const payload = () =>
  `--payload-dir ${folder} --payload-key ${join(folder, 'payload-key.pub')} --payload-cache-dir ${join(folder, 'cache')}`;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wmco-program-'));
  const names = ['', 'AWS', 'Azure'].flatMap(platform => payloadFor(platform).map(({ name }) => name));
  const lines = [...new Set([...names, `${agentName}.exe`])].map(name => `${'a'.repeat(64)}  ${name}`);
  writeSigned(folder, `${lines.join('\n')}\n`);
});
afterAll(() => rm(folder, { recursive: true }));

async function run(
  line: string,
  environment: Record<string, string> = { WATCH_NAMESPACE: 'wmco' },
  stop = new AbortController(),
) {
  let [out, err] = ['', ''];
  const code = await operatorProgram(
    line.split(' ').filter(word => word !== ''),
    {
      environment,
      version: '11.0.0-abc1234',
      runtime: 'v26 linux/x64',
      out: text => void (out += text),
      err: text => void (err += text),
      signal: stop.signal,
    },
  );
  const lines = err
    .split('\n')
    .filter(text => text.startsWith('{'))
    .map(text => JSON.parse(text) as Record<string, unknown>);
  return { code, out, err, lines };
}

test.each(['--help', '-h'])('%s shows help, and nothing else', async flag => {
  const { code, out, err } = await run(flag, {});
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('--metrics-bind-address');
});

test('a wrong command line is code 2, with a word for people', async () => {
  const { code, err } = await run('--bogus');
  expect(code).toBe(2);
  expect(err).toBe('error: unknown flag "--bogus"\n  -> Run `wmco operator --help` for usage.\n');
});

const failures: [name: string, line: () => string, environment: Record<string, string>, want: object][] = [
  ['no namespace', () => '', {}, { message: 'problem running manager', error: { code: 'SETTING_INVALID' } }],
  [
    'log settings that are none',
    () => '',
    { WATCH_NAMESPACE: 'wmco', SERVICES_LOG_FILE_AGE: 'old' },
    { message: 'invalid log rotation configuration', error: { code: 'LOG_SETTING_INVALID' } },
  ],
  [
    'no payload',
    () => '--payload-dir /nowhere',
    { WATCH_NAMESPACE: 'wmco' },
    { error: { code: 'PAYLOAD_UNREADABLE' } },
  ],
  [
    'no kubeconfig',
    () => `${payload()} --kubeconfig /nowhere`,
    { WATCH_NAMESPACE: 'wmco' },
    { error: { code: 'INPUT_UNREADABLE', message: 'kubeconfig /nowhere cannot be read' } },
  ],
  ['no cluster around it', payload, { WATCH_NAMESPACE: 'wmco' }, { error: { code: 'SETTING_INVALID' } }],
];
for (const [name, line, environment, want] of failures) {
  test(`OP-03, OP-04: fails with code 1 and one line for ${name}`, async () => {
    const { code, lines } = await run(line(), environment);
    expect(code).toBe(1);
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([want]);
  });
}

test('OP-07: logs its own version and that of its runtime before any other', async () => {
  const { err, lines } = await run('--payload-dir /nowhere');
  expect(/"version"\s*:\s*"([^"]+)"/.exec(err)?.[1]).toBe('11.0.0-abc1234');
  expect(lines.slice(0, 2)).toMatchObject([
    { message: 'operator', version: '11.0.0-abc1234' },
    { message: 'node', version: 'v26 linux/x64' },
  ]);
});

test('OP-04: prints how logs are rotated, where that is set', async () => {
  const environment = { WATCH_NAMESPACE: 'wmco', SERVICES_LOG_FILE_SIZE: '100M' };
  const { lines } = await run('--payload-dir /nowhere', environment);
  expect(lines[2]).toMatchObject({ message: 'log rotation configured', fileSize: '100M' });
  expect((await run('--payload-dir /nowhere')).lines.map(({ message }) => message)).not.toContain(
    'log rotation configured',
  );
});

const olderThanKubelet = { major: '1', minor: '33', gitVersion: 'v1.33.0' };

test('OP-02: fails when the cluster is not for it', async () => {
  await using cluster = await startEmbeddedCluster({ version: olderThanKubelet });
  await writeFile(join(folder, 'kubeconfig'), cluster.kubeconfigFor());
  const words = `${payload()} --kubeconfig ${join(folder, 'kubeconfig')}`;
  const { code, lines } = await run(words);
  expect(code).toBe(1);
  expect(lines.at(-1)).toMatchObject({ error: { code: 'SERVER_VERSION_UNSUPPORTED' } });
  const known = await run(`${words} --kubelet-version v1.33.0`);
  expect(known.lines.at(-1)).toMatchObject({ error: { code: 'CLUSTER_UNSUITABLE' } });
});
