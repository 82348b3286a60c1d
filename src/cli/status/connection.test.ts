import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { namespaces } from '#kube/resources.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sandbox/embedded-cluster.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { recordedTerminal } from '../../../test/kit/status-views.ts';
import { systemClock } from '#base/clock.ts';
import { openClient } from './connection.ts';

let folder: string;
let cluster: EmbeddedCluster;
const at = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-connection-'));
  cluster = await startEmbeddedCluster();
  const good = cluster.kubeconfigFor();
  writeFileSync(at('good'), good);
  writeFileSync(at('dead'), good.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1'));
  writeFileSync(at('empty'), '\n');
  writeFileSync(at('hosts'), '127.0.0.1 localhost\n::1 localhost\n');
  writeFileSync(at('pod'), 'apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n');
  writeFileSync(at('no-context'), 'contexts: [{name: a}, {name: b}]');
  writeFileSync(at('other'), 'contexts: [{name: a}, {name: b}]\ncurrent-context: gone');
  writeFileSync(at('broken'), 'not: [a kubeconfig');
  mkdirSync(at('home/.kube'), { recursive: true });
  writeFileSync(at('home/.kube/config'), good);
});
afterAll(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true });
});

async function asked(
  kubeconfig: string | undefined,
  environment: Record<string, string>,
  context?: string,
): Promise<number> {
  const terminal = recordedTerminal(undefined, environment, systemClock);
  const client = await openClient({ kubeconfig, context }, terminal);
  try {
    return (await client.list(namespaces)).items.length;
  } finally {
    await client.close();
  }
}

test('prefers --kubeconfig', async () => {
  expect(await asked(at('good'), { KUBECONFIG: at('dead') })).toBeGreaterThan(0);
});

test('prefers KUBECONFIG to ~/.kube/config', async () => {
  expect(await asked(undefined, { KUBECONFIG: at('good'), HOME: at('nowhere') })).toBeGreaterThan(0);
  const error = await rejectionOf(asked(undefined, { KUBECONFIG: at('dead'), HOME: at('home') }));
  expect(error?.code).toBe('API_UNREACHABLE');
});

const lists: [name: string, files: string[], context?: string][] = [
  ['ignores missing files', ['missing', 'good']],
  ['ignores empty files', ['empty', 'good']],
  ['prefers the first file with a name', ['good', 'dead']],
  ['finds contexts of later files', ['other', 'good'], 'sandbox'],
  ['uses the current-context of a later file if the first has none', ['no-context', 'good']],
];
for (const [name, files, context] of lists) {
  test(`KUBECONFIG with ${files.join(' and ')} ${name}`, async () =>
    expect(await asked(undefined, { KUBECONFIG: files.map(at).join(':') }, context)).toBeGreaterThan(0));
}

test('defaults to ~/.kube/config', async () => {
  expect(await asked(undefined, { HOME: at('home') })).toBeGreaterThan(0);
  expect(await asked(undefined, { HOME: at('home'), KUBECONFIG: '' })).toBeGreaterThan(0);
});

const failures: [string, string | undefined, () => Record<string, string>, string, RegExp][] = [
  ['one that is missing', 'missing', () => ({}), 'INPUT_UNREADABLE', /missing cannot be read \(ENOENT/],
  ['one that is a folder', 'home', () => ({}), 'INPUT_UNREADABLE', /home cannot be read \(EISDIR/],
  ['one that is broken', 'broken', () => ({}), 'KUBECONFIG_MALFORMED', /./],
  [
    'KUBECONFIG with a file that is missing',
    undefined,
    () => ({ KUBECONFIG: at('missing') }),
    'INPUT_UNREADABLE',
    /missing/,
  ],
  [
    'KUBECONFIG with files that are all missing',
    undefined,
    () => ({ KUBECONFIG: `${at('missing')}:${at('gone')}` }),
    'INPUT_UNREADABLE',
    /no file in the variable KUBECONFIG exists: \S+missing, \S+gone$/,
  ],
  [
    'KUBECONFIG with a broken file after a good one',
    undefined,
    () => ({ KUBECONFIG: `${at('good')}:${at('broken')}` }),
    'KUBECONFIG_MALFORMED',
    /^kubeconfig \S+broken is neither YAML nor JSON$/,
  ],
  ['one that is empty', 'empty', () => ({}), 'KUBECONFIG_MALFORMED', /^kubeconfig \S+empty is empty or not an object$/],
  ['one that is a hosts file', 'hosts', () => ({}), 'KUBECONFIG_MALFORMED', /^kubeconfig \S+hosts is .*not an object$/],
  ['one that is a Pod', 'pod', () => ({}), 'KUBECONFIG_MALFORMED', /^kubeconfig \S+pod is an object of another kind$/],
  [
    'one without current-context',
    'no-context',
    () => ({}),
    'KUBECONFIG_MALFORMED',
    /no-context has no current-context \(its contexts are "a", "b"\)$/,
  ],
  [
    'one with an unknown current-context',
    'other',
    () => ({}),
    'KUBECONFIG_MALFORMED',
    /other has no context "gone" \(it has "a", "b"\)$/,
  ],
  ['nothing at all', undefined, () => ({ HOME: at('nowhere') }), 'USAGE', /no kubeconfig found/],
  ['not even a home', undefined, () => ({}), 'USAGE', /no kubeconfig found/],
  [
    'a pod without its files',
    undefined,
    () => ({ KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '1' }),
    'CREDENTIAL_UNREADABLE',
    /./,
  ],
  [
    'a pod without a port',
    undefined,
    () => ({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }),
    'SETTING_INVALID',
    /KUBERNETES_SERVICE_PORT/,
  ],
];
for (const [name, file, environment, code, message] of failures) {
  test(`${name} is an error with a remedy`, async () => {
    const error = await rejectionOf(asked(file === undefined ? undefined : at(file), environment()));
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(error?.remedy).toMatch(/\.$/);
  });
}

test('a context that does not exist is an error', async () => {
  const error = await rejectionOf(asked(at('good'), {}, 'elsewhere'));
  expect(error?.message).toContain('elsewhere');
});
