import { expect, test } from 'vitest';
import { platforms } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { infrastructure, type PlainObject } from '../../test/kit/openshift-objects.ts';
import { errorOf } from '../../test/kit/outcome.ts';
import { readApiServerUrl, readPlatform } from './infrastructure.ts';

const cluster = (platform: string, status: PlainObject = {}) => readObject(infrastructure(platform, status));

for (const platform of [...platforms, 'BareMetal', 'OpenStack', 'External'])
  test(`reads the platform ${platform}`, () => expect(readPlatform(cluster(platform))).toBe(platform));

const noPlatforms: [name: string, status: PlainObject][] = [
  ['an empty type', { platformStatus: { type: '' } }],
  ['no type', { platformStatus: { azure: {} } }],
  ['no platformStatus', { platformStatus: undefined }],
  ['platformStatus null', { platformStatus: null }],
];
for (const [name, status] of noPlatforms)
  test(`has no platform with ${name}, even if the outdated field names one`, () => {
    const error = errorOf(() => readPlatform(cluster('Azure', status)));
    expect(error?.code).toBe('PLATFORM_MISSING');
    expect(error?.message).toContain('Infrastructure cluster: status.platformStatus.type');
    expect(error?.remedy).not.toBe('');
  });

test('has no platform before the status is written', () => {
  const object = readObject({
    apiVersion: 'config.openshift.io/v1',
    kind: 'Infrastructure',
    metadata: { name: 'cluster' },
  });
  expect(errorOf(() => readPlatform(object))?.code).toBe('PLATFORM_MISSING');
  expect(errorOf(() => readApiServerUrl(object))?.code).toBe('API_SERVER_URL_MISSING');
});

test('names the field when the platform is no text', () => {
  expect(errorOf(() => readPlatform(cluster('Azure', { platformStatus: { type: 1 } })))?.code).toBe('FIELD_INVALID');
});

const goodUrls = [
  'https://api-int.east.example.com:6443',
  'https://api-int.east.example.com',
  'https://10.0.0.5:6443',
  'https://[fd00::5]:6443',
  'https://api-int.east.example.com:6443/',
  'https://proxy.example.com/clusters/east-1',
];
for (const url of goodUrls)
  test(`accepts the API server at ${url}`, () =>
    expect(readApiServerUrl(cluster('AWS', { apiServerInternalURI: url }))).toBe(url));

const badUrls = [
  '',
  'api-int.east.example.com:6443',
  'http://api-int.east.example.com:6443',
  'https://',
  'https://api-int.east.example.com:99999',
  'https://api int.example.com',
  ' https://api-int.example.com',
  'https://api-int.example.com\n',
  'https://api-int.example.com --loglevel 9',
  'https://api-int.example.com" & calc.exe & "',
  'https://api-int.example.com/%PATH%',
  'https://user:word@api-int.example.com',
  'HTTPS://api-int.example.com',
];
for (const url of badUrls)
  test(`refuses ${JSON.stringify(url)} as address of the API server`, () => {
    const error = errorOf(() => readApiServerUrl(cluster('AWS', { apiServerInternalURI: url })));
    expect(error?.code).toBe('API_SERVER_URL_MISSING');
    expect(error?.message).toContain('Infrastructure cluster: status.apiServerInternalURI is ');
    expect(error?.remedy).toContain('https://api-int');
  });

test('does not show the login in a refused address', () => {
  const url = 'https://user:hunter2@api-int.example.com';
  const message = errorOf(() => readApiServerUrl(cluster('AWS', { apiServerInternalURI: url })))?.message;
  expect(message).toContain('"https://<redacted>@api-int.example.com"');
});

test('never falls back to the public address', () => {
  const error = errorOf(() => readApiServerUrl(cluster('AWS', { apiServerInternalURI: null })));
  expect(error?.code).toBe('API_SERVER_URL_MISSING');
});
