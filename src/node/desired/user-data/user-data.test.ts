import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromBase64, fromUtf8, toBase64 } from '#base/bytes.ts';
import { platforms } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { errorOf } from '../../../../test/kit/outcome.ts';
import { clusterApiCopy, isUserDataSecret, userData, userDataSecret, wrapUserData } from './user-data.ts';

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAm5MQBqxS/vzHl4fOYS6G+6jDzefuARqKxD7ao5OJdm\n';

const wrapped: [platform: string, want: string][] = [
  ['GCP', 'script'],
  ['AWS', '<powershell>script</powershell>\n<persist>true</persist>\n'],
  ['Azure', '<powershell>script</powershell>\n<persist>true</persist>\n'],
  ['VSphere', '<powershell>script</powershell>\n<persist>true</persist>\n'],
  ['Nutanix', '<powershell>script</powershell>\n<persist>true</persist>\n'],
  ['None', '<powershell>script</powershell>\n<persist>true</persist>\n'],
  ['', '<powershell>script</powershell>\n<persist>true</persist>\n'],
  ['gcp', '<powershell>script</powershell>\n<persist>true</persist>\n'],
];

for (const [platform, want] of wrapped) {
  test(`wraps the script for platform ${JSON.stringify(platform)}`, () =>
    expect(wrapUserData(platform, 'script')).toBe(want));
}

for (const platform of [...platforms, 'SomeNewCloud']) {
  test(`${platform}: opens the machine to the key, with its line end`, () => {
    const text = userData(platform, key);
    expect(text).toContain(key);
    expect(text).toBe(
      wrapUserData(platform, text.replace(/^<powershell>|<\/powershell>\n<persist>true<\/persist>\n$/g, '')),
    );
    expect(text.includes('EC2Launch')).toBe(platform === 'AWS');
  });
}

test('AWS: the addition comes inside of the wrapping and after the common part', () => {
  const [aws, azure] = [userData('AWS', key), userData('Azure', key)];
  const common = azure.slice(0, azure.indexOf('</powershell>'));
  expect(aws.startsWith(common)).toBe(true);
  expect(aws.indexOf('run-task add-routes --persistent')).toBeGreaterThan(common.length);
  expect(aws.endsWith('}\n</powershell>\n<persist>true</persist>\n')).toBe(true);
});

test('the same key and platform always give the same text: it is compared byte by byte', () => {
  expect(userData('AWS', key)).toBe(userData('AWS', key));
});

test('a key without a line end gets one', () => expect(userData('None', key.trimEnd())).toBe(userData('None', key)));

const acceptedKeys: [name: string, line: string][] = [
  ['a comment', 'ssh-rsa AAAAB3Nza== bob@example.com'],
  ['a comment of several words', 'ssh-rsa AAAAB3Nza= Windows nodes (2026-01-31)'],
  ['ECDSA', 'ecdsa-sha2-nistp256 AAAAE2VjZHNh'],
  ['a security key', 'sk-ssh-ed25519@openssh.com AAAAGnNr'],
];

for (const [name, line] of acceptedKeys) {
  test(`takes a key with ${name}`, () => expect(userData('None', line)).toContain(`@'\n${line}\n'@`));
}

const refusedKeys: [name: string, line: string][] = [
  ['nothing', ''],
  ['only a line end', '\n'],
  ['a type without a key', 'ssh-rsa'],
  ['no type', 'AAAAB3Nza'],
  ['a key that is not base64', 'ssh-rsa AAA*'],
  ['a second line', 'ssh-rsa AAAA\nssh-rsa BBBB\n'],
  ['two line ends', 'ssh-rsa AAAA\n\n'],
  ['a line end of Windows', 'ssh-rsa AAAA\r\n'],
  ['the end of the text in quotes', "ssh-rsa AAAA\n'@; Remove-Item C:\\ #\n"],
  ['a single quote', "ssh-rsa AAAA bob's"],
  ['a double quote', 'ssh-rsa AAAA "bob"'],
  ['the end of the script', 'ssh-rsa AAAA </powershell>'],
  ['the end of the script in capitals', 'ssh-rsa AAAA </PowerShell>'],
  ['a variable', 'ssh-rsa AAAA $env:USERNAME'],
  ['a backtick', 'ssh-rsa AAAA `n'],
  ['options before the type', 'command="calc" ssh-rsa AAAA'],
  ['letters outside of ASCII', 'ssh-rsa AAAA b\u00f6b'],
  ['a blank in front', ' ssh-rsa AAAA'],
  ['the private key by mistake', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n'],
];

for (const [name, line] of refusedKeys) {
  test(`refuses a key line with ${name}, without showing it`, () => {
    for (const platform of ['None', 'GCP', 'AWS']) {
      const error = errorOf(() => userData(platform, line));
      expect(error?.code).toBe('PUBLIC_KEY_UNREADABLE');
      expect(error?.message).toContain('user data: the public key');
      expect(error?.message).not.toContain('b3BlbnNzaC1rZXk');
      expect(error?.remedy).not.toBe('');
    }
  });
}

test('no key line can leave its place in the script', () => {
  const [before = '', after = ''] = userData('None', 'ssh-rsa AAAA\n').split('ssh-rsa AAAA\n');
  const line = fc.oneof(
    fc.string(),
    fc.string().map(comment => `ssh-rsa AAAA ${comment}`),
  );
  fc.assert(
    fc.property(line, text => {
      const error = errorOf(() => {
        const result = userData('None', text);
        expect(result.startsWith(before) && result.endsWith(after)).toBe(true);
        expect(result.slice(before.length, -after.length)).toMatch(/^[^'"<>`$\n]*\n$/);
      });
      expect([undefined, 'PUBLIC_KEY_UNREADABLE']).toContain(error?.code);
    }),
    { numRuns: 2000 },
  );
});

test('the Secret has the text in base64 and nothing else', () => {
  const secret = userDataSecret('Azure', key);
  expect(secret).toEqual({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'windows-user-data', namespace: 'openshift-machine-api' },
    data: { userData: expect.any(String) },
  });
  expect(fromUtf8(fromBase64(secret.data['userData'] ?? '') ?? new Uint8Array())).toBe(userData('Azure', key));
});

const identities: [name: string, namespace: string, want: boolean][] = [
  ['windows-user-data', 'openshift-machine-api', true],
  ['windows-user-data', 'openshift-cluster-api', true],
  ['windows-user-data', 'openshift-windows-machine-config-operator', false],
  ['windows-user-data', 'kube-system', false],
  ['windows-user-data', '', false],
  ['worker-user-data', 'openshift-machine-api', false],
  ['windows-user-data-old', 'openshift-cluster-api', false],
  ['', 'openshift-machine-api', false],
];

for (const [name, namespace, want] of identities) {
  test(`${namespace}/${name} is ${want ? '' : 'not '}the user-data Secret`, () => {
    expect(isUserDataSecret(name, namespace)).toBe(want);
  });
}

const source = userDataSecret('None', key);
const wanted = source.data['userData'] ?? '';

function copyWith(members: { data?: unknown; resourceVersion?: string }) {
  const { data, ...metadata } = members;
  const identity = { name: 'windows-user-data', namespace: 'openshift-cluster-api' };
  return readObject({ apiVersion: 'v1', kind: 'Secret', metadata: { ...identity, ...metadata }, data });
}

const copies: [
  name: string,
  existing: ReturnType<typeof copyWith> | undefined,
  write: boolean,
  resourceVersion?: string,
][] = [
  ['is created when missing', undefined, true],
  ['is left alone when equal', copyWith({ data: { userData: wanted }, resourceVersion: '7' }), false, '7'],
  [
    'is updated when it differs',
    copyWith({ data: { userData: toBase64('old-data') }, resourceVersion: '7' }),
    true,
    '7',
  ],
  ['is updated when it has no text', copyWith({ data: {}, resourceVersion: '7' }), true, '7'],
  ['is updated when it has no data at all', copyWith({ resourceVersion: '7' }), true, '7'],
  ['is updated when its text is no text', copyWith({ data: { userData: 7 }, resourceVersion: '7' }), true, '7'],
  ['is left alone when it holds more than the text', copyWith({ data: { userData: wanted, more: 'eA==' } }), false],
];

for (const [name, existing, write, resourceVersion] of copies) {
  test(`copy for the cluster API ${name}`, () => {
    const metadata = { name: 'windows-user-data', namespace: 'openshift-cluster-api' };
    expect(clusterApiCopy(source, existing)).toEqual({
      secret: { ...source, metadata: resourceVersion === undefined ? metadata : { ...metadata, resourceVersion } },
      write,
    });
  });
}

test('copying does not change the source', () => {
  const before = structuredClone(source);
  clusterApiCopy(source, copyWith({ resourceVersion: '7' }));
  expect(source).toEqual(before);
});
