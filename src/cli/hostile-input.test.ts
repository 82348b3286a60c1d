import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { poisoned, poisons, unplain } from '../../test/kit/hostile-text.ts';
import { repositoryRoot, runWmco } from '../../test/kit/run-wmco.ts';

type Path = readonly (string | number)[];

const password = 'open-sesame-77';
const login = `http://user:${password}@proxy:3128`;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const namespace = 'openshift-windows-machine-config-operator';

const secret = (name: string, place: string, data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: place },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
});

/** The examples, with a password in every field that can hold one. */
const objects: readonly unknown[] = [
  ...['cluster', 'csr', 'mirrors', 'windows-instances'].flatMap(fromExample),
  {
    apiVersion: 'config.openshift.io/v1',
    kind: 'Proxy',
    metadata: { name: 'cluster' },
    status: { httpProxy: login, httpsProxy: login, noProxy: '.svc' },
  },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'trusted-ca', namespace }, data: { 'ca-bundle.crt': '' } },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'windows-services-1', namespace },
    data: { services: '[]', files: '[]', environmentVars: JSON.stringify({ HTTP_PROXY: login }) },
  },
  secret('node-bootstrapper-token', 'openshift-machine-config-operator', { 'ca.crt': 'CA', token: password }),
  secret('windows-instance-config-daemon', namespace, { 'ca.crt': 'CA', token: password }),
  secret('windows-machine-config-operator-tls', namespace, { 'tls.crt': 'CA', 'tls.key': password }),
  secret('cloud-private-key', namespace, { 'private-key.pem': `-----BEGIN PRIVATE KEY-----\n${password}\n` }),
  secret('pull-secret', 'openshift-config', {
    '.dockerconfigjson': JSON.stringify({
      auths: {
        'mirror.example.com': { auth: base64(`u:${password}`) },
        'example.io': { username: 'u', password },
      },
    }),
  }),
];

function fromExample(name: string): unknown[] {
  const text = readFileSync(join(repositoryRoot, 'examples', `${name}.yaml`), 'utf8');
  const documents = parseAllDocuments(text);
  return Array.isArray(documents) ? documents.map(document => document.toJS() as unknown) : [];
}

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const members: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...members.flatMap(([key, member]) => pathsOf(member, [...path, key]))];
}

function replaced(value: unknown, path: Path, make: (old: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return make(value);
  if (Array.isArray(value)) return value.with(Number(key), replaced(value[Number(key)], rest, make));
  const members = value as Record<string, unknown>;
  return { ...members, [key]: replaced(members[key], rest, make) };
}

const places = objects.flatMap((object, index) => pathsOf(object).map(path => ({ index, path })));

const wrongValues: ((old: unknown) => unknown)[] = [
  ...[7, -1, true, null, '', 'x', [], {}, [7], 'x'.repeat(3000), '\u001b[2J\r', '-----BEGIN X-----'].map(
    value => () => value,
  ),
  old => [old],
  old => ({ member: old }),
  old => JSON.stringify(old),
  old => ({ ...(old as object), ['__proto__']: 1, constructor: 2 }),
];

const commands = [
  'render services',
  'render files',
  'render registries',
  'render user-data',
  'render kubelet-config',
  'check instances',
  'check csr',
  'check mirrors',
  'check services',
  'check cluster',
];

/** Fails on a secret, plain or in base64, and on control characters. */
function expectHarmless(text: string): void {
  for (const leak of [password, base64(password).slice(0, -4), base64(`u:${password}`).slice(0, -4)]) {
    expect(text).not.toContain(leak);
  }
  // oxlint-disable-next-line no-control-regex -- the test searches for them
  expect(text).not.toMatch(/\u001b|\r/);
}

for (const command of commands) {
  test(`wmco ${command} shows no secret in any form`, async () => {
    const stdin = JSON.stringify({ kind: 'List', items: objects });
    for (const form of ['text', 'json', 'yaml']) {
      const { out, err } = await runWmco([...command.split(' '), '-f', '-', '-o', form], stdin);
      expectHarmless(out + err);
    }
  });
}

test('a wrong value in any field of any object becomes a finding with a remedy, never a crash or a leaked secret', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...places),
      fc.constantFrom(...wrongValues),
      fc.constantFrom(...commands),
      fc.constantFrom('text', 'json', 'yaml'),
      async ({ index, path }, wrong, command, form) => {
        const items = objects.with(index, replaced(objects[index], path, wrong));
        const stdin = JSON.stringify({ kind: 'List', items });
        const { code, out, err } = await runWmco([...command.split(' '), '-f', '-', '-o', form], stdin);
        expectHarmless(out + err);
        const findings = err.match(/^error: /gm)?.length ?? 0;
        expect([code, err.match(/^ {2}-> \S/gm)?.length ?? 0]).toEqual([findings > 0 ? 1 : 0, findings]);
      },
    ),
    { numRuns: 600 },
  );
});

const checked: [what: string, words: string[]][] = [
  ['instances', []],
  ['csr', ['--host-name', 'win1.winc.example.com=win1']],
  ['mirrors', []],
  ['services', []],
  ['cluster', []],
];
for (const [what, words] of checked) {
  test(`check ${what}: objects cannot send control characters to the terminal`, async () => {
    const instance = {
      apiVersion: 'windowsmachineconfig.openshift.io/v1alpha1',
      kind: 'WindowsInstance',
      metadata: { name: 'win1' },
      spec: { address: '10.0.0.1', username: 'core', hostname: 'x&net user&y' },
    };
    // Kind and name stay: they decide which code reads the object.
    const keeps = (object: unknown) => {
      const { apiVersion, kind, metadata } = object as { apiVersion: string; kind: string; metadata: object };
      return { apiVersion, kind, metadata };
    };
    await fc.assert(
      fc.asyncProperty(poisons, fc.boolean(), fc.constantFrom('text', 'json'), async (plan, keepsNames, form) => {
        const items = [...objects, instance].map(object => {
          const bad = poisoned(object, plan) as object;
          const { metadata, ...kind } = keeps(object);
          return { ...bad, ...kind, ...(keepsNames && { metadata }) };
        });
        const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
        const { out, err } = await runWmco(['check', what, '-f', '-', '-o', form, ...words], stdin);
        expect(out + err).not.toMatch(unplain);
        expect(out + err).not.toBe('');
      }),
      { numRuns: 60 },
    );
  });
}

test('control characters in arguments do not reach the terminal', async () => {
  for (const words of [
    ['\u001b[2J'],
    ['check', '\u001b[2J'],
    ['check', 'csr', '-o', '\u001b[2J'],
    ['render', '--\u202e'],
  ]) {
    const { code, out, err } = await runWmco(words);
    expect([code, out + err]).toEqual([2, expect.not.stringMatching(unplain)]);
  }
});
