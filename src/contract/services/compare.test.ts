import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { checkContent } from './compare.ts';
import { type ServicesManifest, service } from './manifest.ts';

const kubelet = service({
  name: 'kubelet',
  command: 'kubelet.exe --node-ip=NODE_IP',
  preScripts: [{ variable: 'NODE_IP', path: 'p', args: [] }],
  dependencies: ['containerd', 'vmcompute'],
  bootstrap: true,
  priority: 1,
});
const proxy = service({
  name: 'kube-proxy',
  command: 'kube-proxy.exe',
  nodeVariables: [{ name: 'N', jsonPath: '{.metadata.name}' }],
  hostVariables: [{ name: 'IP', source: 'nodeIP' }],
  prepare: [{ kind: 'cni-and-kube-proxy', arguments: { verbosity: '0' } }],
  priority: 3,
});
const files = [
  { path: 'a', checksum: '1' },
  { path: 'b', checksum: '2' },
];
const expected: ServicesManifest = {
  services: [kubelet, proxy],
  files,
  environment: { HTTP_PROXY: 'http://user:hunter2@proxy:3128', NO_PROXY: 'localhost' },
  watchedEnvironment: ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'],
};
const differenceOf = (actual: Partial<ServicesManifest>, wanted: Partial<ServicesManifest> = {}) => {
  const result = attempt(() => checkContent({ ...expected, ...actual }, { ...expected, ...wanted }, 'ConfigMap x'));
  return result.ok ? 'the same' : result.error.message;
};
const withProxy = (members: object) => ({ services: [kubelet, { ...proxy, ...members }] });

const cases: [string, Partial<ServicesManifest>, string][] = [
  ['the same content', {}, 'the same'],
  ['a copy of the content', structuredClone(expected), 'the same'],
  ['services in another order', { services: [proxy, kubelet] }, 'the same'],
  ['files in another order', { files: files.toReversed() }, 'the same'],
  [
    'variables in another order',
    { environment: { NO_PROXY: 'localhost', HTTP_PROXY: 'http://user:hunter2@proxy:3128' } },
    'the same',
  ],
  ['a service fewer', { services: [kubelet] }, 'ConfigMap x: unexpected number of services: 1, expected 2'],
  ['no services', { services: [] }, 'ConfigMap x: unexpected number of services: 0, expected 2'],
  [
    'a service more',
    { services: [kubelet, proxy, service({ name: 'x', command: 'x' })] },
    'ConfigMap x: unexpected number of services: 3, expected 2',
  ],
  ['another service', withProxy({ name: 'other' }), 'ConfigMap x: service kube-proxy is missing or differs'],
  ['another command', withProxy({ command: 'x' }), 'ConfigMap x: service kube-proxy is missing or differs'],
  ['another priority', withProxy({ priority: 4 }), 'ConfigMap x: service kube-proxy is missing or differs'],
  ['bootstrap', withProxy({ bootstrap: true }), 'ConfigMap x: service kube-proxy is missing or differs'],
  ['another variable', withProxy({ nodeVariables: [] }), 'ConfigMap x: service kube-proxy is missing or differs'],
  ['another source', withProxy({ hostVariables: [] }), 'ConfigMap x: service kube-proxy is missing or differs'],
  [
    'another argument of a preparation',
    withProxy({ prepare: [{ kind: 'cni-and-kube-proxy', arguments: { verbosity: '4' } }] }),
    'ConfigMap x: service kube-proxy is missing or differs',
  ],
  [
    'dependencies in another order',
    { services: [{ ...kubelet, dependencies: ['vmcompute', 'containerd'] }, proxy] },
    'ConfigMap x: service kubelet is missing or differs',
  ],
  [
    'a script without its variable',
    { services: [{ ...kubelet, preScripts: [{ path: 'p', args: [] }] }, proxy] },
    'ConfigMap x: service kubelet is missing or differs',
  ],
  ['a file fewer', { files: files.slice(1) }, 'ConfigMap x: unexpected number of files: 1, expected 2'],
  [
    'another checksum',
    { files: [{ path: 'a', checksum: '9' }, ...files.slice(1)] },
    'ConfigMap x: file a is missing or differs',
  ],
  [
    'another value of a variable',
    { environment: { ...expected.environment, NO_PROXY: 'x' } },
    'ConfigMap x: environment variables differ',
  ],
  ['a variable more', { environment: { ...expected.environment, X: '' } }, 'ConfigMap x: environment variables differ'],
  ['no variables', { environment: {} }, 'ConfigMap x: environment variables differ'],
  [
    'watched variables in another order',
    { watchedEnvironment: ['NO_PROXY', 'HTTP_PROXY', 'HTTPS_PROXY'] },
    'ConfigMap x: required environment variables to watch are NO_PROXY, HTTP_PROXY, HTTPS_PROXY, expected HTTP_PROXY, HTTPS_PROXY, NO_PROXY',
  ],
  [
    'no watched variables',
    { watchedEnvironment: [] },
    'ConfigMap x: required environment variables to watch are none, expected HTTP_PROXY, HTTPS_PROXY, NO_PROXY',
  ],
];
for (const [name, actual, want] of cases) test(`${name}: ${want}`, () => expect(differenceOf(actual)).toBe(want));

test('names an empty list of watched variables', () => {
  expect(differenceOf({ watchedEnvironment: ['A'] }, { watchedEnvironment: [] })).toContain('expected none');
});

test('the error has its code and a remedy', () => {
  const result = attempt(() => checkContent({ ...expected, services: [] }, expected));
  expect(result).toMatchObject({ ok: false, error: { code: 'SERVICES_CONTENT_DIFFERS' } });
  expect(result.ok ? '' : result.error.message).toMatch(/^services ConfigMap: /);
  expect(result.ok ? '' : result.error.remedy).toContain('No action is needed');
});

test('messages do not quote values of variables', () => {
  expect(differenceOf({ environment: { HTTP_PROXY: 'http://user:swordfish@proxy' } })).not.toMatch(/hunter2|swordfish/);
});
