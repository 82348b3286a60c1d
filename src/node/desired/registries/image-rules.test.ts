import * as fc from 'fast-check';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { readObject } from '#contract/object.ts';
import { allow, digestSet, entry, imageConfig, never, pullSecret, tagSet } from '../../../../test/kit/mirror-sets.ts';
import { blockedToml } from './hosts-toml.ts';
import { readImageRules } from './image-rules.ts';
import { registryFiles } from './registries.ts';

type Lists = Partial<Record<'insecureRegistries' | 'blockedRegistries' | 'allowedRegistries', string[]>>;

function filesOf(lists: Lists, ...mirrors: ReturnType<typeof digestSet>[]) {
  return registryFiles([...mirrors, imageConfig(lists)], undefined);
}

/** `server` and hosts that can pull, with `!` where certificates are not verified. */
function pullsFrom(text: string | undefined): string[] {
  const { server, host = {}, ...root } = parse(text ?? '') as Record<string, never> & { host?: Record<string, never> };
  const tables = text ? [...Object.entries(host), [server, root] as const] : [];
  return tables.flatMap(([url, table]) => {
    const { capabilities = ['pull'], skip_verify: skip } = table as { capabilities?: string[]; skip_verify?: boolean };
    return capabilities.includes('pull') ? [`${url}${skip === true ? '!' : ''}`] : [];
  });
}

const blocked = blockedToml();
const file = (host: string) => `${host}\\hosts.toml`;

test('a blocked file has a server and a host table, none of which can pull', () => {
  expect(parse(blocked)).toEqual({
    server: 'https://blocked.invalid/v2',
    capabilities: ['push'],
    host: { 'https://blocked.invalid/v2': { capabilities: ['push'] } },
  });
  expect(pullsFrom(blocked)).toEqual([]);
});

test('without rules nothing changes', () => {
  const sets = [digestSet('d', [entry('a.io', ['m.io'])])];
  for (const rules of [undefined, {}, { insecureRegistries: [] }, { allowedRegistries: [] }]) {
    expect(registryFiles([...sets, imageConfig(rules)], undefined)).toEqual(registryFiles(sets, undefined));
  }
});

test('only Image cluster of the configuration counts', () => {
  const other = (apiVersion: string, name: string) =>
    readObject({
      apiVersion,
      kind: 'Image',
      metadata: { name },
      spec: { registrySources: { blockedRegistries: ['a.io'] } },
    });
  const objects = [other('image.openshift.io/v1', 'cluster'), other('config.openshift.io/v1', 'other')];
  expect(registryFiles(objects, undefined).files).toEqual({});
});

test('insecure: certificates of a mirror, of a source and of a registry without mirrors are not verified', () => {
  const { files, warnings } = filesOf(
    { insecureRegistries: ['m.io:5000', 's.io', 'alone.io:8443'] },
    digestSet('d', [entry('s.io', ['n.io', 'm.io:5000/t'])]),
  );
  expect(warnings).toEqual([]);
  expect(pullsFrom(files[file('s.io')])).toEqual(['https://n.io/v2', 'https://m.io:5000/v2/t!', 'https://s.io/v2!']);
  expect(pullsFrom(files[file('alone.io_8443_')])).toEqual(['https://alone.io:8443/v2!', 'https://alone.io:8443/v2!']);
});

test('insecure: the port is part of the name, and no other registry is concerned', () => {
  const { files } = filesOf({ insecureRegistries: ['m.io'] }, digestSet('d', [entry('s.io', ['m.io:5000', 'xm.io'])]));
  expect(pullsFrom(files[file('s.io')]).join()).not.toContain('!');
});

test('insecure: a mirror that stands for its source is not verified in either place', () => {
  const { files } = filesOf({ insecureRegistries: ['m.io'] }, digestSet('d', [entry('s.io', ['m.io'], never)]));
  expect(pullsFrom(files[file('s.io')])).toEqual(['https://m.io/v2!', 'https://m.io/v2!']);
});

test('blocked: a registry without mirrors cannot be pulled from', () => {
  const { files, warnings } = filesOf({ blockedRegistries: ['evil.io', 'evil.io:5000', 'docker.io'] });
  expect(files).toEqual({
    [file('docker.io')]: blocked,
    [file('evil.io')]: blocked,
    [file('evil.io_5000_')]: blocked,
  });
  expect(warnings).toEqual([]);
});

test('blocked: Docker Hub by the name of its server is blocked by both names', () => {
  const { files, warnings } = filesOf(
    { blockedRegistries: ['registry-1.docker.io'] },
    tagSet('t', [entry('s.io', ['docker.io/x', 'n.io'])]),
  );
  expect(files[file('docker.io')]).toBe(blocked);
  expect(files[file('registry-1.docker.io')]).toBe(blocked);
  expect(pullsFrom(files[file('s.io')])).toEqual(['https://n.io/v2', 'https://s.io/v2']);
  expect(warnings.map(({ message }) => message)).toEqual([
    'ImageTagMirrorSet t: spec.imageTagMirrors[0]: mirror docker.io/x is not used: registry-1.docker.io is in blockedRegistries of Image cluster',
  ]);
});

test('allowed and insecure: Docker Hub by the name of its server is one registry with two names', () => {
  const lists = ['allowedRegistries', 'insecureRegistries'] as const;
  for (const list of lists) {
    const { files } = filesOf({ [list]: ['registry-1.docker.io'] });
    for (const host of ['docker.io', 'registry-1.docker.io'])
      expect(pullsFrom(files[file(host)])[0]).toMatch(/^https:\/\/registry-1\.docker\.io\/v2!?$/);
  }
});

const blockingEntries: [listed: string[], host: string, want: string | undefined][] = [
  [['a.io'], 'a.io', 'a.io'],
  [['registry-1.docker.io'], 'docker.io', 'registry-1.docker.io'],
  [['docker.io'], 'registry-1.docker.io', 'docker.io'],
  [['registry-1.docker.io', 'docker.io'], 'docker.io', 'docker.io'],
  [['docker.io', 'registry-1.docker.io'], 'docker.io', 'docker.io'],
  [['*.a.io'], 'x.a.io:5000', '*.a.io'],
  [['*.a.io/x'], 'x.a.io', undefined],
];
for (const [listed, host, want] of blockingEntries) {
  test(`blocked: the entry of ${listed.join(', ')} that blocks ${host} is ${want ?? 'none'}`, () => {
    expect(readImageRules([imageConfig({ blockedRegistries: listed })]).blockingEntry(host)).toBe(want);
  });
}

test('a wildcard with a path adds no registry to any list', () => {
  const open = ['mcr.microsoft.com'];
  const { files } = filesOf(
    { allowedRegistries: [...open, '*.a.io/x'], blockedRegistries: ['*.b.io/x'], insecureRegistries: ['*.c.io/x'] },
    tagSet('t', [entry('y.a.io', ['m.io'])]),
  );
  expect(Object.keys(files)).toEqual(['_default', 'mcr.microsoft.com', 'y.a.io'].map(file));
  expect(files[file('y.a.io')]).toBe(blocked);
  const rules = readImageRules([imageConfig({ blockedRegistries: ['*.b.io/x'], insecureRegistries: ['*.c.io/x'] })]);
  expect([rules.isBlocked('y.b.io'), rules.isBlocked('b.io'), rules.isInsecure('y.c.io')]).toEqual([
    false,
    false,
    false,
  ]);
});

test('an allow-list of nothing but a wildcard with a path allows only the pause image', () => {
  const { files } = filesOf({ allowedRegistries: ['*.example.com/foo'] });
  expect(Object.keys(files)).toEqual(['_default', 'mcr.microsoft.com'].map(file));
});

test('a name that is too long for a path gives no file in any list', () => {
  const text = `${Array(4).fill('a'.repeat(59)).join('.')}:5000`;
  for (const list of ['insecureRegistries', 'blockedRegistries', 'allowedRegistries'] as const) {
    const { files, warnings } = filesOf(
      { [list]: ['a.io', text, 'mcr.microsoft.com'] },
      digestSet('d', [entry(text, ['m.io'])]),
    );
    expect(Object.keys(files)).toContain(file('a.io'));
    expect(Object.keys(files).join()).not.toContain('aaa');
    expect(warnings.map(({ message }) => message).filter(message => message.includes('too long'))).toHaveLength(2);
  }
});

test('blocked: mirrors of a blocked source are used, the source is not', () => {
  const { files } = filesOf({ blockedRegistries: ['s.io'] }, digestSet('d', [entry('s.io', ['m.io'], allow)]));
  expect(pullsFrom(files[file('s.io')])).toEqual(['https://m.io/v2', 'https://m.io/v2']);
});

test('blocked: a blocked mirror is left out and reported', () => {
  const { files, warnings } = filesOf(
    { blockedRegistries: ['m.io', 'docker.io'] },
    tagSet('t', [entry('s.io', ['m.io/x', 'registry-1.docker.io', 'n.io'])]),
  );
  expect(pullsFrom(files[file('s.io')])).toEqual(['https://n.io/v2', 'https://s.io/v2']);
  expect(warnings.map(({ message }) => message)).toEqual([
    'ImageTagMirrorSet t: spec.imageTagMirrors[0]: mirror m.io/x is not used: m.io is in blockedRegistries of Image cluster',
    'ImageTagMirrorSet t: spec.imageTagMirrors[0]: mirror registry-1.docker.io is not used: docker.io is in blockedRegistries of Image cluster',
  ]);
});

test('blocked: a wildcard holds for mirrors and sources that are named, and is reported', () => {
  const { files, warnings } = filesOf(
    { blockedRegistries: ['*.evil.io'] },
    tagSet('t', [entry('s.io', ['m.evil.io:5000', 'evil.io']), entry('a.evil.io', [])]),
  );
  expect(pullsFrom(files[file('s.io')])).toEqual(['https://evil.io/v2', 'https://s.io/v2']);
  expect(files[file('a.evil.io')]).toBe(blocked);
  expect(warnings.map(({ code }) => code)).toEqual(['MIRROR_SET_INVALID', 'REGISTRY_NOT_BLOCKED']);
});

test('blocked: the registry of the pause image without a mirror is reported', () => {
  const { warnings } = filesOf({ blockedRegistries: ['mcr.microsoft.com'] });
  expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('no new pod starts')]);
});

test('allowed: all other registries are refused, with their mirrors', () => {
  const { files, warnings } = filesOf(
    { allowedRegistries: ['a.io', 'b.io:5000', 'mcr.microsoft.com'] },
    digestSet('d', [entry('a.io', ['m.io']), entry('c.io', ['m.io'])]),
  );
  expect(warnings).toEqual([]);
  expect(files[file('_default')]).toBe(blocked);
  expect(files[file('c.io')]).toBe(blocked);
  expect(pullsFrom(files[file('a.io')])).toEqual(['https://m.io/v2', 'https://a.io/v2']);
  expect(pullsFrom(files[file('b.io_5000_')])).toEqual(['https://b.io:5000/v2', 'https://b.io:5000/v2']);
});

test('allowed: the registry of the pause image stays allowed, and that is reported', () => {
  const { files, warnings } = filesOf(
    { allowedRegistries: ['a.io'] },
    digestSet('d', [entry('mcr.microsoft.com', ['m.io'])]),
  );
  expect(pullsFrom(files[file('mcr.microsoft.com')])).toEqual(['https://m.io/v2', 'https://mcr.microsoft.com/v2']);
  expect(warnings.map(({ code }) => code)).toEqual(['REGISTRY_NOT_BLOCKED']);
});

test('allowed: the registry of the pause image has a file of its own even if no rule names it', () => {
  const { files } = filesOf({ allowedRegistries: ['a.io'] });
  expect(pullsFrom(files[file('mcr.microsoft.com')])).toContain('https://mcr.microsoft.com/v2');
});

test('allowed: what is blocked as well is not contacted', () => {
  const { files } = filesOf({ allowedRegistries: ['a.io', 'mcr.microsoft.com'], blockedRegistries: ['a.io'] });
  expect(files[file('a.io')]).toBe(blocked);
});

const limited: [list: keyof Lists, text: string, code: string, says: string][] = [
  ['insecureRegistries', 'a.io/team', 'REGISTRY_SOURCE_UNSUPPORTED', 'verify its certificate'],
  ['insecureRegistries', '*.a.io', 'REGISTRY_SOURCE_UNSUPPORTED', 'is a wildcard'],
  ['insecureRegistries', 'bad host', 'REGISTRY_SOURCE_UNSUPPORTED', 'not a host name'],
  ['insecureRegistries', '*.a.io/x', 'REGISTRY_SOURCE_UNSUPPORTED', 'is a wildcard with a path'],
  ['blockedRegistries', '*.a.io/x', 'REGISTRY_NOT_BLOCKED', 'it blocks nothing'],
  ['blockedRegistries', 'bad"quote', 'REGISTRY_NOT_BLOCKED', 'not a host name; Windows nodes do not block it'],
  ['blockedRegistries', '[fd00::1]:5000', 'REGISTRY_NOT_BLOCKED', 'Windows nodes do not block it'],
  ['blockedRegistries', 'con.example', 'REGISTRY_NOT_BLOCKED', 'Windows nodes do not block it'],
  ['blockedRegistries', 'quay.io/*', 'REGISTRY_NOT_BLOCKED', 'Windows nodes do not block it'],
  ['blockedRegistries', 'user:p4ss/w0rd@x.com', 'REGISTRY_NOT_BLOCKED', '"<redacted>@x.com"'],
  ['allowedRegistries', '*.a.io/x', 'REGISTRY_SOURCE_UNSUPPORTED', 'is a wildcard with a path'],
  ['allowedRegistries', 'bad"quote', 'REGISTRY_SOURCE_UNSUPPORTED', 'Windows nodes do not allow it'],
  ['allowedRegistries', 'a.io/x@sha256:00ff', 'REGISTRY_NOT_BLOCKED', '"<redacted>@sha256:00ff"'],
  ['blockedRegistries', 'a.io/team', 'REGISTRY_NOT_BLOCKED', 'still pull from it'],
  ['blockedRegistries', '*.a.io', 'REGISTRY_NOT_BLOCKED', 'still pull from others'],
  ['allowedRegistries', 'a.io/team', 'REGISTRY_NOT_BLOCKED', 'other repositories'],
  ['allowedRegistries', '*.a.io', 'REGISTRY_SOURCE_UNSUPPORTED', 'refuse others'],
];
for (const [list, text, code, says] of limited) {
  test(`reports ${text} in ${list}`, () => {
    const { problems } = readImageRules([imageConfig({ [list]: ['mcr.microsoft.com', text] })]);
    expect(problems.map(problem => [problem.code, problem.message])).toEqual([
      [code, expect.stringContaining(`Image cluster: spec.registrySources.${list}[1]: `)],
    ]);
    expect(problems[0]?.message).toContain(says);
  });
}

test('a list of another type is reported and does not stop the others', () => {
  const rules = readImageRules([imageConfig({ insecureRegistries: 'a.io', blockedRegistries: ['b.io'] })]);
  expect(rules.problems).toHaveLength(1);
  expect(rules.isBlocked('b.io')).toBe(true);
});

test('a login is never sent to a registry of the image configuration that is no mirror', () => {
  const { files } = registryFiles(
    [imageConfig({ insecureRegistries: ['a.io'] })],
    pullSecret({ 'a.io': { username: 'bob', password: 's3cret' } }),
  );
  expect(Object.values(files).join()).not.toContain('authorization');
});

test('no file ever pulls from a blocked registry, whatever the mirror sets say', () => {
  const hosts = fc.constantFrom<string[]>('a.io', 'b.io:5000', 'c.x.io', 'docker.io');
  const list = fc.array(hosts, { maxLength: 3 });
  const set = fc.record({ source: hosts, mirrors: list, mirrorSourcePolicy: fc.constantFrom(allow, never) });
  fc.assert(
    fc.property(fc.array(set, { maxLength: 4 }), list, list, (sets, blockedRegistries, insecureRegistries) => {
      const { files } = filesOf({ blockedRegistries, insecureRegistries }, digestSet('d', sets));
      const pulled = Object.values(files)
        .flatMap(pullsFrom)
        .map(url => new URL(url.replace('!', '')).host);
      const names = pulled.map(host => host.replace('registry-1.', ''));
      expect(names.filter(host => blockedRegistries.includes(host))).toEqual([]);
      for (const host of blockedRegistries) expect(files[file(host.replace(/:(\d+)/, '_$1_'))]).not.toBe('');
    }),
    { numRuns: 1000 },
  );
});
