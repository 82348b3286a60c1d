import { afterAll, beforeAll, inject, test } from 'vitest';
import { parityCases } from '../kit/parity-cases/all.ts';
import { runCase, type Setting } from '../kit/parity-cases/run-case.ts';
import { sharedKubeconfig } from '../kit/cluster/shared-cluster.ts';
import { Target } from '../kit/parity-cases/target.ts';

interface Kubeconfig {
  clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
}

let setting: Setting;

beforeAll(async () => {
  const { clusters, users } = JSON.parse(sharedKubeconfig()) as Kubeconfig;
  const [{ cluster }, { user }] = [clusters[0], users[0]];
  const decoded = (text: string): string => Buffer.from(text, 'base64').toString();
  const target = new Target({
    url: cluster.server,
    ca: decoded(cluster['certificate-authority-data']),
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  });
  const { body } = await target.send({ method: 'GET', path: '/apis/policy', headers: {} });
  const minor = inject('minor');
  setting = { target, minor, policy: (body as { preferredVersion: { version: string } }).preferredVersion.version };
});

afterAll(() => setting.target.close());

for (const [index, parityCase] of parityCases.entries())
  test.concurrent(parityCase.name, () => runCase(setting, parityCase, `p${index}`));
