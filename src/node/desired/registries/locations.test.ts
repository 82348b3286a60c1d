import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorOf } from '../../../../test/kit/outcome.ts';
import { display, mirrorPrefix, parseLocation, parseSource, printLocation } from './locations.ts';

const where = 'ImageDigestMirrorSet x: spec.imageDigestMirrors[0].source';

const good: [name: string, text: string, host: string, path: string[]][] = [
  ['a host', 'quay.io', 'quay.io', []],
  ['a host with one label', 'registry', 'registry', []],
  ['a host with a port', 'mirror.corp:5000', 'mirror.corp:5000', []],
  ['the highest port', 'mirror.corp:65535', 'mirror.corp:65535', []],
  ['an IPv4 address', '10.0.0.7:5000/a', '10.0.0.7:5000', ['a']],
  ['a path', 'quay.io/team/os/pause', 'quay.io', ['team', 'os', 'pause']],
  ['a port and a path', 'dev:5000/pipeline', 'dev:5000', ['pipeline']],
  ['a tag', 'quay.io/powershell:23', 'quay.io', ['powershell:23']],
  ['a digest', 'quay.io/pause@sha256:00ff', 'quay.io', ['pause@sha256:00ff']],
  ['underscores and dashes in the path', 'quay.io/my_team/a-b__c', 'quay.io', ['my_team', 'a-b__c']],
  ['the scheme https', 'https://source1.local:5000', 'source1.local:5000', []],
  ['the scheme docker', 'docker://mcr.microsoft.com/oss/pause', 'mcr.microsoft.com', ['oss', 'pause']],
  ['a scheme in capitals', 'HTTPS://quay.io/a', 'quay.io', ['a']],
  ['a slash at the end', 'quay.io/team/', 'quay.io', ['team']],
  ['a host in capitals, which is the same host', 'Quay.IO/Team', 'quay.io', ['Team']],
];

for (const [name, text, host, path] of good) {
  test(`location: reads ${name}`, () => expect(parseLocation(text, where)).toEqual({ host, path }));
}

const bad: [name: string, text: string, why: string][] = [
  ['nothing', '', 'no registry host'],
  ['a scheme without a host', 'https://', 'no registry host'],
  ['a slash alone', '/', 'no registry host'],
  ['a path without a host', '/team/app', 'no registry host'],
  ['a blank before the host', ' quay.io', 'not a host name'],
  ['a blank in the host', 'quay .io', 'not a host name'],
  ['a blank in the path', 'quay.io/my app', '"my app" in its path'],
  ['a line break in the host', 'quay.io\nevil', 'not a host name'],
  ['a line break at the end', 'quay.io/team\n', 'in its path'],
  ['a quote in the host', 'quay.io"', 'not a host name'],
  ['a quote in the path', 'quay.io/a"]', 'in its path'],
  ['a quote of the other kind', "quay.io/a'b", 'in its path'],
  ['a table of its own', 'quay.io"]\n[host."https://evil', 'not a host name'],
  ['a backslash in the host', 'quay.io\\..\\evil', 'not a host name'],
  ['a backslash in the path', 'quay.io/..\\evil', 'in its path'],
  ['a way up', 'quay.io/../etc', '".." in its path'],
  ['a way up as host', '../etc', 'not a host name'],
  ['a folder that is itself', 'quay.io/./a', '"." in its path'],
  ['an empty part', 'quay.io//a', 'an empty part'],
  ['two slashes at the end', 'quay.io/a//', 'an empty part'],
  ['a question mark', 'quay.io/a?b', 'in its path'],
  ['a hash mark', 'quay.io/a#b', 'in its path'],
  ['a percent sign', 'quay.io/a%2fb', 'in its path'],
  ['a letter outside of ASCII', 'qu\u00e4y.io', 'not a host name'],
  ['a look-alike letter in the path', 'quay.io/t\u0435am', 'in its path'],
  ['an underscore in the host, which could be the directory of a port', 'reg_5000_', 'not a host name'],
  ['a pipe', 'quay|io', 'not a host name'],
  ['less and greater', '<quay>.io', 'not a host name'],
  ['a dot at the end of the host, which Windows would drop', 'quay.io./a', 'not a host name'],
  ['two dots in a row', 'quay..io', 'not a host name'],
  ['a dash at the end of a label', 'quay-.io', 'not a host name'],
  ['a host that is too long', `${'a'.repeat(64)}.io`, 'not a host name'],
  ['an IPv6 address', '[fd00::1]:5000/a', 'not a host name'],
  ['a number', '5000', 'not a host name'],
  ['an IPv4 address with a part too many', '10.0.0.0.1', 'not a host name'],
  ['an IPv4 address out of range', '10.0.0.256', 'not a host name'],
  ['a host that ends in a number', 'mirror.5', 'not a host name'],
  ['a port of zero', 'quay.io:0', 'port "0"'],
  ['a port that is too high', 'quay.io:65536', 'port "65536"'],
  ['a port with a leading zero', 'quay.io:0443', 'port "0443"'],
  ['an empty port', 'quay.io:', 'port ""'],
  ['a tag instead of a port', 'quay.io:latest', 'port "latest"'],
  ['two ports', 'quay.io:1:2', 'not a host name'],
  ['a wildcard in the middle', 'quay.*.io', 'not a host name'],
];

for (const [name, text, why] of bad) {
  test(`location: refuses ${name}`, () => {
    const error = errorOf(() => parseLocation(text, where));
    expect(error?.code).toBe('MIRROR_SET_INVALID');
    expect(error?.message.startsWith(`${where}: `)).toBe(true);
    expect(error?.message).toContain(why);
    expect(error?.remedy).toContain('host[:port][/path]');
  });
}

test.each([
  'bob:s3cret@quay.io/a',
  'https://bob:s3cret@quay.io',
  'https:/bob:s3cret@quay.io',
  'bob:x:s3cret@q',
  's3cret@quay.io',
  'bob:s3cret/w0rd@quay.io',
  'bob:p4ss/s3cret@quay.io/a',
  'bob/s3cret@quay.io',
  'bob/s3cret@registry:5000',
  'https://bob/s3cret/x@y@quay.io',
])('location: refuses a login in %j without showing it', text => {
  const error = errorOf(() => parseLocation(text, where));
  expect(error?.code).toBe('MIRROR_SET_INVALID');
  expect(`${error?.message} ${error?.remedy}`).not.toContain('s3cret');
  expect(error?.message).toContain('<redacted>@');
  expect(error?.message).not.toMatch(/bob|p4ss|w0rd/);
});

const displayed: [text: string, want: string][] = [
  ['quay.io/a', 'quay.io/a'],
  ['user:p4ss/w0rd@x.com', '<redacted>@x.com'],
  ['https://user:p4ss@x.com/a', '<redacted>@x.com/a'],
  ['x.com/a?token=s3cret', 'x.com/a?<redacted>'],
  ['user:p4ss@x.com/a?token=s3cret', '<redacted>@x.com/a?<redacted>'],
  ['x.com/a?token=s3c@ret', '<redacted>'],
  ['user:p4?ss@x.com', '<redacted>'],
];
for (const [text, want] of displayed) {
  test(`messages show ${text} as ${want}`, () => expect(display(text)).toBe(`"${want}"`));
}

test.each(['x.com/a?token=s3cret', 'x.com?s3cret', 'x.com/?s3cret/a'])(
  'location: refuses %j and shows nothing that may be a token',
  text => expect(errorOf(() => parseLocation(text, where))?.message).not.toContain('s3cret'),
);

test.each(['con', 'CON', 'nul', 'aux.example.com', 'prn', 'com1', 'lpt9.corp/a', 'con.corp:5000'])(
  'source: refuses %s, which Windows keeps for a device',
  text => {
    const error = errorOf(() => parseSource(text, where));
    expect(error?.code).toBe('MIRROR_SET_INVALID');
    expect(error?.message).toContain(`${where}: "${text}"`);
    expect(error?.remedy).toContain('another host name');
    expect(parseLocation(text, where).host).toBe(text.toLowerCase().split('/')[0]);
  },
);

test.each(['con:5000', 'console.example.com', 'com.example', 'com10', 'registry.con', 'auxiliary'])(
  'source: accepts %s, which only looks like a device',
  text => expect(printLocation(parseSource(text, where))).toBe(text),
);

const long = (length: number) =>
  'a23456789.'
    .repeat(Math.ceil(length / 10))
    .slice(0, length - 1)
    .concat('x');

const lengths: [name: string, text: string, isAccepted: boolean][] = [
  ['the longest host', long(201), true],
  ['a host that is too long for a path', long(202), false],
  ['the longest host with a port', `${long(195)}:5000`, true],
  ['a host that is too long with its port', `${long(196)}:5000`, false],
  ['four long labels and a port', `${Array(4).fill('a'.repeat(59)).join('.')}:5000`, false],
  ['a long path, which is not part of the directory', `a.io/${'b'.repeat(300)}`, true],
];
for (const [name, text, isAccepted] of lengths) {
  test(`source: ${isAccepted ? 'accepts' : 'refuses'} ${name}`, () => {
    const error = errorOf(() => parseSource(text, where));
    expect(error?.code).toBe(isAccepted ? undefined : 'MIRROR_SET_INVALID');
    if (error === undefined) return;
    expect(error.message).toContain(`${where}: "${text.slice(0, 50)}`);
    expect(error.message).toContain('path of its file on Windows would be too long');
    expect(error.remedy).toContain('at most 201 characters');
  });
}

test.each(['*.example.com', '*.example.com/team', 'https://*.example.com', '*', 'quay.io/*'])(
  'source: refuses the wildcard %s and says what to write instead',
  text => {
    const error = errorOf(() => parseSource(text, where));
    expect(error?.code).toBe('MIRROR_SET_INVALID');
    expect(error?.message).toContain(`${where}: "${text}" has a wildcard`);
    expect(error?.remedy).toContain('one entry for each registry');
  },
);

const prefixes: [source: string, mirror: string, want: string][] = [
  ['example.com/path/to/res', 'example.com/path/to/res', 'example.com'],
  ['example.com/path/to/res', 'example.org/path/to/res', 'example.org'],
  ['mcr.microsoft.com/oss/kubernetes/pause', 'quay.io/u/oss/kubernetes/pause', 'quay.io/u'],
  ['docker://mcr.microsoft.com/oss/kubernetes/pause', 'quay.io/testuser/oss/kubernetes/pause', 'quay.io/testuser'],
  ['mcr.microsoft.com/powershell:lts', 'quay.io/powershell:23', 'quay.io/powershell:23'],
  ['foo1/fah/different/foo2', 'foo1/fah/something/foo2', 'foo1/fah/something'],
  ['example.com/a/x', 'example.com/aax', 'example.com/aax'],
  ['registry.redhat.io', 'mirror.io/rh', 'mirror.io/rh'],
  ['vmc.ci.openshift.org/ci-op/pipeline', 'dev:5000/pipeline', 'dev:5000'],
  ['mcr.microsoft.com', 'mirror.io', 'mirror.io'],
  ['mcr.microsoft.com/a/b', 'mirror.io', 'mirror.io'],
  ['mcr.microsoft.com/a/b', 'mirror.io/b/a', 'mirror.io/b/a'],
  ['mcr.microsoft.com/a/b/c', 'mirror.io/b/c', 'mirror.io'],
  ['https://quay.io/a', 'quay.io/a', 'quay.io'],
  ['quay.io/a', 'docker://quay.io/a', 'quay.io'],
  ['quay.io/a', 'https://m.io/x/a', 'm.io/x'],
  ['quay.io/a/', 'm.io/x/a', 'm.io/x'],
  ['Quay.io/a', 'M.io/X/a', 'm.io/X'],
  ['m.io/a', 'x.io/m.io/a', 'x.io/m.io'],
  ['registry.redhat.io', 'mirror.corp/registry.redhat.io', 'mirror.corp/registry.redhat.io'],
  ['x.io/m.io/a', 'm.io/a', 'm.io'],
  ['quay.io/a', 'docker.io/a', 'docker.io'],
  ['quay.io/a', 'registry-1.docker.io/x/a', 'docker.io/x'],
];

for (const [source, mirror, want] of prefixes) {
  test(`prefix of ${mirror} as mirror of ${source} is ${want}`, () => {
    expect(printLocation(mirrorPrefix(parseLocation(source, where), parseLocation(mirror, where)))).toBe(want);
  });
}

const host = fc.stringMatching(/^[a-z]{1,5}(\.[a-z]{2,3})?(:[1-9][0-9]{0,3})?$/);
const path = fc.array(fc.stringMatching(/^[a-z]{1,3}$/), { maxLength: 4 });
const location = fc.record({ host, path });

test('prefix: the image is found again under the prefix when the mirror ends with the path of the source', () => {
  fc.assert(
    fc.property(location, location, (source, team) => {
      const mirror = { host: team.host, path: [...team.path, ...source.path] };
      const prefix = mirrorPrefix(source, mirror);
      expect([...prefix.path, ...source.path]).toEqual(mirror.path);
      expect(prefix.host).toBe(mirror.host);
    }),
    { numRuns: 1000 },
  );
});

test('prefix: is always a beginning of the mirror and keeps its host', () => {
  fc.assert(
    fc.property(location, location, (source, mirror) => {
      const prefix = mirrorPrefix(source, mirror);
      expect(prefix).toEqual({ host: mirror.host, path: mirror.path.slice(0, prefix.path.length) });
    }),
    { numRuns: 1000 },
  );
});

test('location: what was read prints and reads the same again', () => {
  fc.assert(
    fc.property(location, value => {
      expect(parseLocation(printLocation(value), where)).toEqual(value);
    }),
    { numRuns: 1000 },
  );
});

test('location: any text gives a harmless location or an AppError', () => {
  const nasty = fc.string({
    unit: fc.constantFrom('a', '1', '.', '-', '_', ':', '/', '\\', '"', '\n', ' ', '*', '@', '#'),
  });
  fc.assert(
    fc.property(fc.oneof(fc.string(), nasty), text => {
      const error = errorOf(() => expect(printLocation(parseSource(text, where))).toMatch(/^[A-Za-z0-9._:@~+/-]+$/));
      expect([undefined, 'MIRROR_SET_INVALID']).toContain(error?.code);
    }),
    { numRuns: 2000 },
  );
});
