import { expect, test } from 'vitest';
import { Secret } from '#base/secret.ts';
import { file } from '#contract/paths.ts';
import { cloudNodeKubeconfig, serviceAccountToken, tokenKubeconfig } from './kubeconfig.ts';

const server = 'https://api-int.c.example.com:6443';
const secrets = (data: Record<string, string>) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, new Secret(value)]));
const token = (data: Record<string, string>) => serviceAccountToken(secrets(data), 'Secret ns/token');

test('a token kubeconfig has one cluster, one user, one context, and no apiVersion', () => {
  const text = tokenKubeconfig('kubelet', server, token({ 'ca.crt': 'CA', token: 'abc' })).reveal();
  expect(text).toBe(
    `{"clusters":[{"name":"local","cluster":{"server":"${server}","certificate-authority-data":"Q0E="}}],` +
      '"users":[{"name":"kubelet","user":{"token":"abc"}}],' +
      '"contexts":[{"name":"kubelet","context":{"cluster":"local","user":"kubelet"}}],"current-context":"kubelet"}',
  );
});

test('empty credentials are left out', () => {
  const text = tokenKubeconfig('wicd', server, token({ 'ca.crt': '', token: '' })).reveal();
  expect(text).not.toContain('certificate-authority-data');
  expect(text).toContain('"user":{}');
});

for (const key of ['ca.crt', 'token']) {
  test(`a Secret without ${key} is named in the error, and its other value is not`, () => {
    const rest = { 'ca.crt': 'CA', token: 'sesame', [key]: '' };
    const data = secrets(rest);
    delete data[key];
    const read = () => serviceAccountToken(data, 'Secret ns/token');
    expect(read).toThrow(
      expect.objectContaining({ code: 'SECRET_KEY_MISSING', message: `Secret ns/token: data has no ${key}` }),
    );
    expect(read).not.toThrow(/sesame/);
  });
}

test('keys of the prototype are not members of a Secret', () => {
  expect(() =>
    serviceAccountToken(Object.create(secrets({ token: 't', 'ca.crt': 'c' })) as never, 'Secret x'),
  ).toThrow();
});

test('the kubeconfig of cloud-node-manager names files, so that a renewed certificate is picked up', () => {
  const config = JSON.parse(cloudNodeKubeconfig(server, 'CA')) as Record<string, unknown>;
  expect(config).toEqual({
    clusters: [{ name: 'local', cluster: { server, 'certificate-authority-data': 'Q0E=' } }],
    users: [
      {
        name: 'cloud-node-manager',
        user: { 'client-certificate': file.cloudNodeCertificate, 'client-key': file.cloudNodeCertificate },
      },
    ],
    contexts: [{ name: 'cloud-node-manager', context: { cluster: 'local', user: 'cloud-node-manager' } }],
    'current-context': 'cloud-node-manager',
  });
});

test('a token kubeconfig cannot be printed by accident', () => {
  const config = tokenKubeconfig('wicd', server, token({ 'ca.crt': 'CA', token: 'sesame' }));
  expect(`${String(config)} ${JSON.stringify({ config })}`).not.toContain('sesame');
});
