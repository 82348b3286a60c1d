/* oxlint-disable no-control-regex -- escapes are what is looked for */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { nodes } from '../../src/kube/resources.ts';
import { startOnTerminal, startWmco, type WmcoProcess } from '../kit/wmco-process.ts';

/** `wmco sandbox` as a process. All its files are in a folder of the test and must be removed at the end. */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-command-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const sandbox = (...words: string[]): WmcoProcess =>
  startWmco(['sandbox', ...words], { environment: { TMPDIR: folder } });
const leftBehind = () => readdirSync(folder, { recursive: true });

test('by default six hosts and two Machines become Ready, and it exits without a terminal', async () => {
  await using wmco = sandbox();
  expect(await wmco.ended()).toBe(0);
  const out = wmco.out();
  expect(out).toMatch(/^Cluster at https:\/\/127\.0\.0\.1:\d+ with 6 hosts and 2 Machines; .* 2 times faster/);
  expect(out).toMatch(/8 of 8 hosts Ready in [^\n]+ of sandbox time\)\.\n/);
  for (const host of [1, 2, 3, 4, 5, 6].map(number => `win-${number}`)) {
    expect(out).toMatch(new RegExp(`^ +[\\d.]+ s  ${host} +Ready as Node ${host} after `, 'm'));
    expect(out).toMatch(new RegExp(`^${host} +${host} +Ready +[\\d.]+ s +\\d+ +8\\.0 MB +\\S`, 'm'));
  }
  expect(out.match(/^winworker-\w+ +winworker-\w+ +Ready/gm)).toHaveLength(2);
  expect([wmco.err(), leftBehind()]).toEqual(['', []]);
}, 120_000);

test('output to a file has no colors, no long lines except remedies, and not every step', async () => {
  await using wmco = sandbox('--hosts', '3', '--machines', '0', '--speed', '10', '--exit-when-ready');
  expect(await wmco.ended()).toBe(0);
  const lines = wmco.out().split('\n');
  expect(wmco.out()).not.toContain('\u001b');
  expect(Math.max(...lines.map(line => line.length))).toBeLessThan(140);
  expect(lines.length).toBeLessThan(60);
});

test('prints remedies for hosts with faults and exits with 1', async () => {
  const faults = 'wrong-key@win-2,bad-name@win-3,dropped-connection@win-4,no-sftp@winworker-1';
  await using wmco = sandbox(
    '--exit-when-ready',
    '--hosts',
    '4',
    '--machines',
    '1',
    '--speed',
    '20',
    '--faults',
    faults,
  );
  expect(await wmco.ended()).toBe(1);
  const out = wmco.out();
  const summary = out.slice(out.indexOf('\nHOST '));
  expect(summary).toMatch(/^win-1 .*Ready/m);
  expect(summary).toMatch(/^win-4 .*Ready/m);
  expect(summary).toMatch(/^win-2: HOST_REFUSED_KEY\n( {2}.*\n)+? {2}-> Run in PowerShell/m);
  expect(summary).toMatch(/^win-3: HOST_NAME_INVALID\n( {2}.*\n)+? {2}-> Run in PowerShell .*`Rename-Computer/m);
  expect(summary).toContain('2 of 5 hosts Ready in ');
  expect([wmco.err(), leftBehind()]).toEqual(['', []]);
}, 120_000);

test('--serve keeps running with a working kubeconfig and leaves no files at the end', async () => {
  const kubeconfig = join(folder, 'kubeconfig');
  const log = join(folder, 'operator.log');
  await using wmco = sandbox(
    '--serve',
    '--hosts',
    '2',
    '--machines',
    '0',
    '--speed',
    '20',
    '--kubeconfig',
    kubeconfig,
    '--log',
    log,
  );
  await wmco.until('Running until Ctrl-C');
  expect(wmco.out()).toContain(`export KUBECONFIG=${kubeconfig}`);
  expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
  const client = createClient(loadKubeconfig(readFileSync(kubeconfig, 'utf8')));
  expect((await client.list(nodes)).items.map(({ metadata }) => metadata.name)).toEqual(
    expect.arrayContaining(['win-1', 'win-2']),
  );
  await using status = startWmco(['status', 'win-2'], { environment: { KUBECONFIG: kubeconfig } });
  expect(await status.ended()).toBe(0);
  await client.delete(nodes, 'win-1');
  await wmco.until(/(Ready as Node win-1[^]*){2}/);
  await client.close();
  wmco.signal('SIGINT');
  expect(await wmco.ended()).toBe(0);
  expect(wmco.out()).toMatch(/Stopping the sandbox and removing its files\.\n$/);
  // The chosen log stays; the kubeconfig is removed.
  expect(leftBehind()).toEqual(['operator.log']);
  expect(readFileSync(log, 'utf8')).toContain('Instance has been configured as a worker node');
}, 120_000);

for (const signal of ['SIGINT', 'SIGHUP'] as const) {
  test(`${signal} during the joins stops it with a summary and leaves no files`, async () => {
    await using wmco = sandbox('--hosts', '3', '--machines', '1', '--speed', '1');
    await wmco.until(/win-1 +(?!Pending)/);
    wmco.signal(signal);
    expect(await wmco.ended()).toBe(1);
    expect(wmco.out()).toMatch(/0 of 4 hosts Ready in /);
    expect([wmco.err(), leftBehind()]).toEqual(['', []]);
  });
}

test('a second Ctrl-C also leaves no files', async () => {
  await using wmco = sandbox('--hosts', '3', '--machines', '0', '--speed', '1');
  await wmco.until(/win-1 +(?!Pending)/);
  for (const signal of ['SIGINT', 'SIGINT'] as const) wmco.signal(signal);
  expect([1, 130]).toContain(await wmco.ended());
  expect(leftBehind()).toEqual([]);
});

test('--timeout stops it while hosts are in progress', async () => {
  await using wmco = sandbox('--hosts', '1', '--machines', '0', '--timeout', '2s', '--faults', 'unreachable@win-1');
  expect(await wmco.ended()).toBe(1);
  expect(wmco.out()).toContain('Timed out: --timeout is 2.0 s.');
});

test('on a terminal it redraws one table, keeps running, and restores the terminal at Ctrl-C', async () => {
  const words = ['sandbox', '--hosts', '2', '--machines', '0', '--speed', '10'];
  await using wmco = startOnTerminal(words, { environment: { TMPDIR: folder }, columns: 90, rows: 30 });
  await wmco.until('Running until Ctrl-C');
  const path = /KUBECONFIG=(\S+)/.exec(wmco.out())?.[1] ?? '';
  expect(existsSync(path)).toBe(true);
  wmco.type('\u0003');
  expect(await wmco.ended()).toBe(0);
  const out = wmco.out();
  expect(out).toMatch(/\u001b\[\d+A/);
  expect(out).toContain('\u001b[32mReady');
  expect(out.lastIndexOf('\u001b[?25h')).toBeGreaterThan(out.lastIndexOf('\u001b[?25l'));
  const lines = out.split(/\r?\n/).map(line => line.replaceAll(/\u001b\[[?\d;]*[A-Za-z]/g, ''));
  expect(Math.max(...lines.slice(2).map(line => line.length))).toBeLessThanOrEqual(90);
  expect(leftBehind()).toEqual([]);
});

test('NO_COLOR prints the same table without colors', async () => {
  const words = ['sandbox', '--hosts', '1', '--machines', '0', '--speed', '20', '--exit-when-ready'];
  const environment = { TMPDIR: folder, NO_COLOR: '1' };
  await using wmco = startOnTerminal(words, { environment, columns: 60, rows: 20 });
  expect(await wmco.ended()).toBe(0);
  expect(wmco.out()).not.toMatch(/\u001b\[\d+m/);
  expect(wmco.out()).toContain('1 of 1 host Ready in ');
});

test('an unknown fault is a usage error before anything starts', async () => {
  await using wmco = sandbox('--faults', 'tired@win-1');
  expect(await wmco.ended()).toBe(2);
  expect(wmco.err()).toMatch(/^error: unknown fault "tired"/);
  expect(leftBehind()).toEqual([]);
});

test('a used port is an error', async () => {
  await using first = sandbox('--hosts', '1', '--machines', '0', '--speed', '20', '--serve');
  await first.until(/^Cluster at /);
  const port = /127\.0\.0\.1:(\d+)/.exec(first.out())?.[1] ?? '';
  await using second = sandbox('--port', port);
  expect(await second.ended()).toBe(1);
  expect(second.err()).toMatch(new RegExp(`^error: LISTEN_FAILED: .*${port}`));
  first.signal('SIGTERM');
  await first.ended();
});
