import { expect, test } from 'vitest';
import { errorOf } from '../../../test/kit/outcome.ts';
import { resolveContext } from './kubeconfig.ts';
import { parseKubeconfigFiles } from './kubeconfig-files.ts';

const first = {
  path: '/first/config',
  text: JSON.stringify({
    clusters: [{ name: 'shared', cluster: { server: 'https://first' } }],
    users: [{ name: 'one', user: { tokenFile: 'token', 'client-certificate': '../c.crt', 'client-key': '/c.key' } }],
    contexts: [{ name: 'one', context: { cluster: 'shared', user: 'one' } }],
  }),
};
const second = {
  path: '/second/config',
  text: JSON.stringify({
    clusters: [
      { name: 'shared', cluster: { server: 'https://second', 'certificate-authority': 'ca.crt' } },
      { name: 'own', cluster: { server: 'https://own', 'certificate-authority': 'ca.crt' } },
    ],
    users: [
      { name: 'two', user: { exec: { apiVersion: 'v1', command: 'bin/login' } } },
      { name: 'three', user: { exec: { apiVersion: 'v1', command: 'login' } } },
    ],
    contexts: [
      { name: 'one', context: { cluster: 'own', user: 'two' } },
      { name: 'two', context: { cluster: 'own', user: 'two' } },
      { name: 'three', context: { cluster: 'own', user: 'three' } },
    ],
    'current-context': 'two',
  }),
};
const third = { path: '/third/config', text: '{"current-context": "three"}' };

test('the first file with a name wins as a whole', () => {
  const { cluster, user } = resolveContext(parseKubeconfigFiles([first, second]), 'one');
  expect(cluster).toEqual({ server: 'https://first', skipTlsVerify: false });
  expect(user).toEqual({ tokenFile: '/first/token', clientCertificateFile: '/c.crt', clientKeyFile: '/c.key' });
});

test('the current-context is that of the first file with one', () => {
  expect(resolveContext(parseKubeconfigFiles([first, second, third])).name).toBe('two');
  expect(resolveContext(parseKubeconfigFiles([third, first, second])).name).toBe('three');
});

test('paths are relative to their own file', () => {
  const config = parseKubeconfigFiles([first, second]);
  expect(resolveContext(config, 'two')).toMatchObject({
    cluster: { server: 'https://own', caFile: '/second/ca.crt' },
    user: { exec: { command: '/second/bin/login' } },
  });
  expect(resolveContext(config, 'three').user.exec?.command).toBe('login');
});

test('an error names its file, or all files if it concerns the result', () => {
  const broken = { path: '/broken', text: 'users: hunter2' };
  expect(errorOf(() => parseKubeconfigFiles([first, broken]))?.message).toBe('kubeconfig /broken users is not a list');
  expect(errorOf(() => resolveContext(parseKubeconfigFiles([first, second]), 'x'))).toMatchObject({
    message: 'kubeconfig /first/config, /second/config has no context "x" (it has "one", "two", "three")',
    remedy: 'Add the context, or use another one with --context.',
  });
});

test('an error lists at most 20 names', () => {
  const contexts = Array.from({ length: 50 }, (_, index) => ({ name: `c${index}` }));
  const config = parseKubeconfigFiles([{ path: 'many', text: JSON.stringify({ contexts }) }]);
  expect(errorOf(() => resolveContext(config))?.message).toMatch(/"c0", .* "c19", 30 more\)$/);
});
