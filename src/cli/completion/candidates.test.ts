import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Clock } from '#base/clock.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { recordedTerminal } from '../../../test/kit/status-views.ts';
import { completeProgram } from './candidates.ts';

const hostile = [
  '-rf',
  '--kubeconfig=/x',
  '$(reboot)',
  '`reboot`',
  'a b',
  "a'b",
  'a;b',
  'a\nb',
  '\u001b[2J',
  '',
  'ä',
  '*',
];
const good = ['win-1', '10.0.0.1', 'fd00::1', 'host.example.com', 'Upper'];

const instance = (name: string) => ({
  metadata: { name, namespace: 'ns' },
  spec: { address: name, username: 'x', source: { kind: 'ConfigMap', name } },
});
const answer: RequestListener = ({ url = '' }, response) => {
  if (url.startsWith('/slow')) return;
  const isInstances = url.includes('/windowsinstances');
  response.writeHead(isInstances ? 200 : 403, { 'content-type': 'application/json' });
  const items = [...hostile, ...good].map(instance);
  response.end(JSON.stringify({ kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items }));
};

const server = createServer(answer);
let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-candidates-'));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const context = (name: string, path: string) => ({
    clusters: [{ name, cluster: { server: `http://127.0.0.1:${port}${path}` } }],
    users: [{ name, user: {} }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
  writeFileSync(join(folder, 'good'), JSON.stringify(context('good', '')));
  writeFileSync(join(folder, 'slow'), JSON.stringify(context('slow', '/slow')));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const faultNames = () => Promise.resolve(['slow-disk', 'slow-boot', 'no-ssh']);

async function candidates(words: string[], environment: Record<string, string> = {}, clock?: Clock): Promise<string[]> {
  const terminal = recordedTerminal(undefined, environment, clock);
  expect(await completeProgram(words, terminal, faultNames)).toBe(0);
  expect(terminal.errors()).toBe('');
  return terminal.text().split('\n').slice(0, -1);
}

test('lists the hosts of the cluster, but no name that a shell could misread', async () => {
  expect((await candidates(['hosts', '--kubeconfig', join(folder, 'good')])).toSorted()).toEqual(good.toSorted());
});

test('finds the cluster by KUBECONFIG', async () => {
  expect(await candidates(['hosts', '-w'], { KUBECONFIG: join(folder, 'good') })).toContain('win-1');
});

test('accepts the flags of wmco remove', async () => {
  const words = ['hosts', '--force', '--username', 'x', '--kubeconfig', join(folder, 'good')];
  expect(await candidates(words)).toContain('win-1');
});

test('lists no hosts and prints no error after two seconds without an answer', async () => {
  const clock = manualClock();
  const listed = candidates(['hosts', '--kubeconfig', join(folder, 'slow')], {}, clock);
  await expect.poll(() => clock.sleepers()).toBeGreaterThan(0);
  await clock.advance(2000);
  expect(await listed).toEqual([]);
});

const failures: [name: string, words: string[]][] = [
  ['no kubeconfig', ['hosts']],
  ['a missing kubeconfig', ['hosts', '--kubeconfig', '/nonexistent']],
  ['an unknown flag', ['hosts', '--bogus']],
  ['a flag without its value', ['hosts', '--context']],
  ['a request for help', ['hosts', '--help']],
  ['no words', []],
  ['an unknown kind', ['pods']],
];
for (const [name, words] of failures) {
  test(`prints nothing for ${name}`, async () => expect(await candidates(words)).toEqual([]));
}

const faults: [typed: string, want: string[]][] = [
  ['', ['slow-disk@', 'slow-boot@', 'no-ssh@']],
  ['slow', ['slow-disk@', 'slow-boot@']],
  ['no-ssh@winw', ['no-ssh@winworker-1', 'no-ssh@winworker-2']],
  ['slow-disk@win-6', ['slow-disk@win-6']],
  ['no-ssh@win-1,slow-d', ['no-ssh@win-1,slow-disk@']],
  ['no-ssh@win-1,slow-disk@win-2', ['no-ssh@win-1,slow-disk@win-2']],
  ['bogus', []],
];
for (const [typed, want] of faults) {
  test(`completes the faults ${JSON.stringify(typed)}`, async () =>
    expect(await candidates(['faults', typed])).toEqual(want));
}
