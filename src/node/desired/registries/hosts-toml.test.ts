import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { allow, never } from '../../../../test/kit/mirror-sets.ts';
import { hostsToml, redactHostsToml } from './hosts-toml.ts';
import { registryDirectory } from './locations.ts';
import type { MergedMirrorSet } from './merge.ts';

const login = 'Ym9iOnMzY3JldA==';
const logins = new Map([
  ['mirror.corp:5000', login],
  ['docker.io', 'aHVi'],
]);

function set(
  source: string,
  mirrors: string[],
  sourcePolicy: MergedMirrorSet['sourcePolicy'] = allow,
): MergedMirrorSet {
  return { source, mirrors: mirrors.map(host => ({ host, canResolveTags: false })), sourcePolicy };
}

const lines = (...text: string[]) => `${text.join('\n')}\n`;

test('one mirror of digests: the source is the last resort', () => {
  expect(hostsToml(set('registry.access.redhat.com', ['example.io/example']), new Map())).toBe(
    lines(
      'server = "https://registry.access.redhat.com/v2"',
      '',
      'override_path = true',
      '',
      '[host."https://example.io/v2/example"]',
      '  capabilities = ["pull"]',
      '  override_path = true',
    ),
  );
});

test('a mirror that resolves tags, with a login', () => {
  const mirrors = [{ host: 'mirror.corp:5000/acme', canResolveTags: true }];
  expect(hostsToml({ source: 'mcr.microsoft.com', mirrors, sourcePolicy: never }, logins)).toBe(
    lines(
      'server = "https://mirror.corp:5000/v2/acme"',
      '',
      'override_path = true',
      '',
      '[host."https://mirror.corp:5000/v2/acme"]',
      '  capabilities = ["pull", "resolve"]',
      '  override_path = true',
      '  [host."https://mirror.corp:5000/v2/acme".header]',
      `    authorization = "Basic ${login}"`,
    ),
  );
});

test('several mirrors: a blank line between them, also after a login', () => {
  expect(hostsToml(set('a.io', ['mirror.corp:5000', 'n.io']), logins)).toBe(
    lines(
      'server = "https://a.io/v2"',
      '',
      'override_path = true',
      '',
      '[host."https://mirror.corp:5000/v2"]',
      '  capabilities = ["pull"]',
      '  override_path = true',
      '  [host."https://mirror.corp:5000/v2".header]',
      `    authorization = "Basic ${login}"`,
      '',
      '[host."https://n.io/v2"]',
      '  capabilities = ["pull"]',
      '  override_path = true',
    ),
  );
});

const servers: [name: string, set: MergedMirrorSet, want: string][] = [
  ['the source', set('a.io', ['m.io']), 'https://a.io/v2'],
  ['the source with its port', set('a.io:5000', ['m.io']), 'https://a.io:5000/v2'],
  ['the first mirror instead of a forbidden source', set('a.io', ['m.io/t', 'n.io'], never), 'https://m.io/v2/t'],
  ['Docker Hub under its real name', set('docker.io', ['m.example/dockerhub']), 'https://registry-1.docker.io/v2'],
  [
    'Docker Hub as forbidden source',
    set('docker.io', ['m.example/dockerhub'], never),
    'https://m.example/v2/dockerhub',
  ],
  ['Docker Hub as first mirror', set('a.io', ['docker.io/library'], never), 'https://registry-1.docker.io/v2/library'],
  ['a host that only ends like Docker Hub', set('my.docker.io', ['m.io']), 'https://my.docker.io/v2'],
];

for (const [name, given, want] of servers) {
  test(`server is ${name}`, () => expect(parse(hostsToml(given, new Map()))['server']).toBe(want));
}

test('a source without mirrors has an empty file, whatever its policy', () => {
  expect(hostsToml(set('a.io', []), logins)).toBe('');
  expect(hostsToml(set('a.io', [], never), logins)).toBe('');
});

test('a login belongs to host and port, not to the path, and to no other host', () => {
  const text = hostsToml(
    set('a.io', ['mirror.corp', 'mirror.corp:5000', 'mirror.corp:5000/x', 'x.mirror.corp:5000']),
    logins,
  );
  const hosts = parse(text)['host'] as Record<string, { header?: { authorization: string } }>;
  expect(Object.entries(hosts).map(([url, { header }]) => [url, header?.authorization])).toEqual([
    ['https://mirror.corp/v2', undefined],
    ['https://mirror.corp:5000/v2', `Basic ${login}`],
    ['https://mirror.corp:5000/v2/x', `Basic ${login}`],
    ['https://x.mirror.corp:5000/v2', undefined],
  ]);
});

test('a login for Docker Hub goes to its real name', () => {
  expect(hostsToml(set('a.io', ['docker.io']), logins)).toContain(
    '  [host."https://registry-1.docker.io/v2".header]\n    authorization = "Basic aHVi"\n',
  );
});

test('no login goes to the source', () => {
  expect(hostsToml(set('mirror.corp:5000', ['m.io']), logins)).not.toContain('authorization');
});

const directories: [source: string, want: string][] = [
  ['quay.io', 'quay.io'],
  ['registry', 'registry'],
  ['docker.io', 'docker.io'],
  ['reg.local:5000', 'reg.local_5000_'],
  ['10.0.0.1:443', '10.0.0.1_443_'],
];

for (const [source, want] of directories) {
  test(`directory of ${source} is ${want}`, () => expect(registryDirectory(source)).toBe(want));
}

test('redacting hides every login and nothing else', () => {
  const text = hostsToml(set('a.io', ['docker.io', 'mirror.corp:5000', 'n.io']), logins);
  const shown = redactHostsToml(text);
  expect(shown).not.toContain(login);
  expect(shown).not.toContain('aHVi');
  expect(shown.split('\n').filter(line => line === '    authorization = "<redacted>"')).toHaveLength(2);
  expect(shown.replaceAll('"<redacted>"', '')).toBe(text.replaceAll(/"Basic [^"]*"/g, ''));
});

test('redacting leaves a text without logins as it is', () => {
  const text = hostsToml(set('authorization.io', ['authorization', 'm.io']), new Map());
  expect(redactHostsToml(text)).toBe(text);
  expect(redactHostsToml('')).toBe('');
});

test('redacting twice is redacting once', () => {
  const once = redactHostsToml(hostsToml(set('a.io', ['mirror.corp:5000']), logins));
  expect(redactHostsToml(once)).toBe(once);
});
