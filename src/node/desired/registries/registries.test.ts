import * as fc from 'fast-check';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { Secret } from '#base/secret.ts';
import type { KubeObject } from '#contract/object.ts';
import { allow, digestSet, entry, never, pullSecret, tagSet } from '../../../../test/kit/mirror-sets.ts';
import { errorOf } from '../../../../test/kit/outcome.ts';
import { blockedToml } from './hosts-toml.ts';
import { registryFiles } from './registries.ts';

const bob = pullSecret({ 'mirror.corp:5000': { auth: toBase64('bob:s3cret') } });

/** What containerd reads out of the files: server and hosts with capabilities, by directory. */
function configured(objects: KubeObject[], secret?: Secret) {
  const { files } = registryFiles(objects, secret);
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => {
      const { server, host = {} } = parse(text) as {
        server?: string;
        host?: Record<string, { capabilities: string[] }>;
      };
      const hosts = Object.entries(host).map(([url, { capabilities }]) => `${url} ${capabilities.join('+')}`);
      return [path, [server, ...hosts]];
    }),
  );
}

test('documented example: three sources, three files', () => {
  const example = digestSet('ubi9repo', [
    {
      mirrors: ['example.io/example/ubi-minimal', 'example.com/example2/ubi-minimal'],
      source: 'registry.access.redhat.com/ubi9/ubi-minimal',
      mirrorSourcePolicy: 'AllowContactingSource',
    },
    { mirrors: ['mirror.example.com'], source: 'registry.redhat.io', mirrorSourcePolicy: 'NeverContactSource' },
    { mirrors: ['docker.io'], source: 'docker-mirror.internal', mirrorSourcePolicy: 'AllowContactingSource' },
  ]);
  const { sets, warnings } = registryFiles([example], undefined);
  expect(warnings).toEqual([]);
  expect(sets.map(({ source, sourcePolicy }) => [source, sourcePolicy])).toEqual([
    ['docker-mirror.internal', allow],
    ['registry.access.redhat.com', allow],
    ['registry.redhat.io', never],
  ]);
  expect(configured([example])).toEqual({
    'docker-mirror.internal\\hosts.toml': ['https://docker-mirror.internal/v2', 'https://registry-1.docker.io/v2 pull'],
    'registry.access.redhat.com\\hosts.toml': [
      'https://registry.access.redhat.com/v2',
      'https://example.io/v2/example pull',
      'https://example.com/v2/example2 pull',
    ],
    'registry.redhat.io\\hosts.toml': ['https://mirror.example.com/v2', 'https://mirror.example.com/v2 pull'],
  });
});

const worked: [name: string, objects: KubeObject[], want: Record<string, (string | undefined)[]>][] = [
  ['no objects, no files', [], {}],
  [
    'a whole registry',
    [digestSet('d', [entry('registry.access.redhat.com', ['example.io/example'], allow)])],
    {
      'registry.access.redhat.com\\hosts.toml': [
        'https://registry.access.redhat.com/v2',
        'https://example.io/v2/example pull',
      ],
    },
  ],
  [
    'a source that is never contacted',
    [digestSet('d', [entry('registry.access.redhat.com', ['example.io/example'], never)])],
    {
      'registry.access.redhat.com\\hosts.toml': ['https://example.io/v2/example', 'https://example.io/v2/example pull'],
    },
  ],
  [
    'digest and tag entries of one host, Never in one of them',
    [
      digestSet('d', [
        entry('mcr.microsoft.com/oss/kubernetes/pause', ['mirror.corp:5000/acme/oss/kubernetes/pause'], allow),
      ]),
      tagSet('t', [entry('mcr.microsoft.com/powershell', ['mirror.corp:5000/acme/powershell'], never)]),
    ],
    {
      'mcr.microsoft.com\\hosts.toml': [
        'https://mirror.corp:5000/v2/acme',
        'https://mirror.corp:5000/v2/acme pull+resolve',
      ],
    },
  ],
  [
    'two sources on one host with different mirrors',
    [
      digestSet('d', [
        entry('registry.access.redhat.com/ubi9/ubi-minimal', ['devcluster:5000/ubi9/ubi-minimal'], allow),
        entry('registry.access.redhat.com/ubi8/ubi-minimal', ['random.io/ubi8/ubi-minimal'], never),
      ]),
    ],
    {
      'registry.access.redhat.com\\hosts.toml': [
        'https://devcluster:5000/v2',
        'https://devcluster:5000/v2 pull',
        'https://random.io/v2 pull',
      ],
    },
  ],
  [
    'Docker Hub keeps its directory and is asked under its real name',
    [digestSet('d', [entry('docker.io/library', ['m.example/dockerhub'])])],
    { 'docker.io\\hosts.toml': ['https://registry-1.docker.io/v2', 'https://m.example/v2/dockerhub pull'] },
  ],
  [
    'a source with a port gets the directory in which containerd looks',
    [digestSet('d', [entry('reg.local:5000/a', ['m.io/a'])])],
    { 'reg.local_5000_\\hosts.toml': ['https://reg.local:5000/v2', 'https://m.io/v2 pull'] },
  ],
  [
    'one registry with and without a port is two',
    [digestSet('d', [entry('reg.local:5000', ['m.io']), entry('reg.local', ['n.io'])])],
    {
      'reg.local\\hosts.toml': ['https://reg.local/v2', 'https://n.io/v2 pull'],
      'reg.local_5000_\\hosts.toml': ['https://reg.local:5000/v2', 'https://m.io/v2 pull'],
    },
  ],
  [
    'an unset policy does not hide a later Never',
    [tagSet('t', [entry('a.io/x', ['m.io/x']), entry('a.io/y', ['n.io/y'], never)])],
    { 'a.io\\hosts.toml': ['https://m.io/v2', 'https://m.io/v2 pull+resolve', 'https://n.io/v2 pull+resolve'] },
  ],
  [
    'an entry without mirrors gives an empty file',
    [digestSet('d', [entry('src.io/app', [])])],
    { 'src.io\\hosts.toml': [undefined] },
  ],
  [
    'a wildcard is left out, the rest goes on',
    [digestSet('d', [entry('*.example.com', ['m.io']), entry('a.io', ['m.io'])])],
    { 'a.io\\hosts.toml': ['https://a.io/v2', 'https://m.io/v2 pull'] },
  ],
  [
    'a bad mirror is left out, the rest goes on',
    [digestSet('d', [entry('a.io', ['"evil"', 'm.io'])])],
    { 'a.io\\hosts.toml': ['https://a.io/v2', 'https://m.io/v2 pull'] },
  ],
];

for (const [name, objects, want] of worked) test(name, () => expect(configured(objects)).toEqual(want));

test('files come in the order of their sources', () => {
  const { files } = registryFiles(
    [digestSet('d', [entry('b.io', []), entry('a.io', []), entry('c.io', [])])],
    undefined,
  );
  expect(Object.keys(files)).toEqual(['a.io\\hosts.toml', 'b.io\\hosts.toml', 'c.io\\hosts.toml']);
});

test('a login of the pull secret stands with its mirror only', () => {
  const { files } = registryFiles([digestSet('d', [entry('a.io', ['mirror.corp:5000/t', 'n.io'])])], bob);
  expect(files['a.io\\hosts.toml']?.match(/authorization = .*/g)).toEqual(['authorization = "Basic Ym9iOnMzY3JldA=="']);
});

test('an old key of Docker Hub is used for a mirror on Docker Hub', () => {
  const secret = pullSecret({ 'https://index.docker.io/v1/': { username: 'bob', password: 's3cret' } });
  for (const mirror of ['docker.io', 'registry-1.docker.io', 'docker.io/team']) {
    const { files } = registryFiles([digestSet('d', [entry('a.io', [mirror])])], secret);
    expect(files['a.io\\hosts.toml']).toContain('authorization = "Basic Ym9iOnMzY3JldA=="');
  }
});

test('warnings come from all inputs, and none stops the files', () => {
  const objects = [
    digestSet('d', [entry('*.io', []), entry('a.io', ['m.io', 'bad mirror'])]),
    tagSet('t', [entry('b.io', ['bad mirror'], never)]),
  ];
  const { files, warnings } = registryFiles(objects, pullSecret({ 'm.io': { auth: '%' } }));
  expect(Object.keys(files)).toEqual(['a.io\\hosts.toml', 'b.io\\hosts.toml']);
  expect(warnings.map(({ code }) => code)).toEqual([...Array(4).fill('MIRROR_SET_INVALID'), 'PULL_SECRET_MALFORMED']);
  for (const { remedy } of warnings) expect(remedy).not.toBe('');
});

test('warns when a source must not be contacted and nothing else is left to contact', () => {
  const { warnings } = registryFiles([tagSet('t', [entry('b.io', [], never), entry('c.io', [], allow)])], undefined);
  expect(warnings.map(({ message }) => message)).toEqual([
    expect.stringContaining('b.io has the policy NeverContactSource'),
  ]);
});

test('without a pull secret there are no logins; a broken one is an error', () => {
  expect(
    Object.values(registryFiles([digestSet('d', [entry('a.io', ['mirror.corp:5000'])])], undefined).files).join(),
  ).not.toContain('auth');
  expect(errorOf(() => registryFiles([], new Secret('{')))?.code).toBe('PULL_SECRET_MALFORMED');
});

const nastyText = fc.string({
  unit: fc.constantFrom(
    'a',
    'B',
    '0',
    '.',
    '-',
    '_',
    ':',
    '/',
    '\\',
    '"',
    "'",
    '\n',
    '\r',
    '\t',
    ' ',
    '*',
    '@',
    '[',
    ']',
    '=',
    '#',
    '\u00e9',
  ),
  maxLength: 12,
});
const plain = fc.constantFrom(
  'a.io',
  'a.io/x',
  'b.io:5000/x/y',
  'docker.io',
  'registry-1.docker.io/x',
  'C.io/x',
  'con',
  'https://d.io/',
);
const location = fc.oneof(
  plain,
  nastyText,
  fc.tuple(plain, nastyText).map(parts => parts.join('/')),
  fc.tuple(nastyText, plain).map(parts => parts.join('')),
);
const entries = fc.array(
  fc.record({
    source: location,
    mirrors: fc.array(location, { maxLength: 4 }),
    mirrorSourcePolicy: fc.constantFrom('', allow, never),
  }),
  { maxLength: 5 },
);
const auths = fc.dictionary(fc.oneof(plain, nastyText), fc.record({ username: fc.string(), password: fc.string() }));

test('every file is valid TOML with exactly the hosts that were meant, whatever the input', () => {
  fc.assert(
    fc.property(entries, entries, auths, (digests, tags, logins) => {
      const { sets, files } = registryFiles([digestSet('d', digests), tagSet('t', tags)], pullSecret(logins));
      const contents = Object.values(files).map(text => parse(text));
      const wanted = sets.map(({ mirrors, sourcePolicy }) =>
        mirrors.length === 0 && sourcePolicy === never
          ? ['blocked.invalid']
          : mirrors.map(({ host }) => host.replace(/^docker\.io(?=\/|$)/, 'registry-1.docker.io')),
      );
      expect(contents.map(content => Object.keys(content['host'] ?? {}))).toEqual(
        wanted.map(hosts => hosts.map(host => `https://${host.replace(/^[^/]*/, '$&/v2')}`)),
      );
      for (const content of contents) {
        const keys = ['server', 'override_path', 'capabilities', 'host'];
        expect(Object.keys(content).filter(key => !keys.includes(key))).toEqual([]);
        for (const [url, table] of Object.entries(content['host'] ?? {})) {
          expect(new URL(url).href).toBe(url);
          expect(
            Object.keys(table as object).filter(key => !['capabilities', 'override_path', 'header'].includes(key)),
          ).toEqual([]);
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test('every file lies in a directory of its own that Windows can create', () => {
  fc.assert(
    fc.property(entries, list => {
      const { sets, files } = registryFiles([digestSet('d', list)], undefined);
      const paths = Object.keys(files);
      for (const path of paths)
        expect(path).toMatch(/^(?!(con|nul)[.\\])[a-z0-9]([a-z0-9.-]*[a-z0-9])?(_[1-9]\d*_)?\\hosts\.toml$/);
      expect(new Set(paths.map(path => path.toLowerCase())).size).toBe(sets.length);
    }),
    { numRuns: 2000 },
  );
});

test('a source with the policy Never is in no file that has a mirror, unless it is its own mirror', () => {
  fc.assert(
    fc.property(entries, list => {
      const strict = list.map(item => ({ ...item, mirrorSourcePolicy: never }));
      const { sets, files } = registryFiles([tagSet('t', strict)], undefined);
      Object.values(files).forEach((text, index) => {
        const [first] = sets[index]?.mirrors ?? [];
        if (first === undefined) expect(text).toBe(blockedToml());
        else expect(parse(text)['server']).toBe(Object.keys(parse(text)['host'] as object)[0]);
      });
    }),
    { numRuns: 1000 },
  );
});
