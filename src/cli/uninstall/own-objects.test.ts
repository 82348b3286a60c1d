import { expect, test } from 'vitest';
import type { KubeResource } from '#kube/resource.ts';
import { isOfCluster } from './foreign-objects.ts';
import { isInstalled, isOwn } from './own-objects.ts';

const name = 'windows-machine-config-operator';
const namespace = 'ns';
const ofOperator = { 'app.kubernetes.io/name': name };
const ofAgents = { ...ofOperator, 'app.kubernetes.io/part-of': 'wicd', 'app.kubernetes.io/managed-by': name };

const labelled: [kind: string, metadata: KubeResource['metadata'], isOurs: boolean][] = [
  ['ClusterRole', { name }, true],
  ['Role', { name, namespace: 'default' }, true],
  ['ClusterRole', { name: `${name}-lasting-tokens` }, true],
  ['ValidatingAdmissionPolicy', { name: `${name}-agent-reports` }, true],
  ['RoleBinding', { name: 'prometheus-k8s', namespace }, true],
  ['ServiceMonitor', { name: 'windows-exporter', namespace }, true],
  ['PrometheusRule', { name: 'windows-prometheus-k8s-rules', namespace }, true],
  ['ServiceAccount', { name, namespace }, true],
  ['ClusterRole', { name: 'windows-instance-config-daemon:win-1', labels: ofAgents }, true],
  ['ClusterRoleBinding', { name: 'windows-kube-proxy', labels: ofAgents }, true],
  ['ServiceAccount', { name: 'windows-instance-config-daemon', namespace, labels: ofAgents }, true],
  ['ClusterRole', { name: 'view-windows-hosts' }, false],
  ['RoleBinding', { name: 'prometheus-k8s', namespace: 'of-a-team' }, false],
  ['PrometheusRule', { name: 'our-alerts', namespace }, false],
  ['ServiceAccount', { name, namespace: 'of-a-team' }, false],
  ['ClusterRole', { name: 'wicd', labels: { ...ofAgents, 'app.kubernetes.io/managed-by': 'helm' } }, false],
];
for (const [kind, metadata, isOurs] of labelled) {
  test(`${kind} ${metadata.namespace ?? ''}/${metadata.name} with the label is ${isOurs ? '' : 'not '}of the installation`, () => {
    expect(isInstalled({ kind, metadata: { labels: ofOperator, ...metadata } }, namespace)).toBe(isOurs);
  });
}

const pullSecrets = [
  'kubernetes.io/service-account.name',
  'openshift.io/internal-registry-auth-token.service-account',
] as const;
for (const annotation of pullSecrets) {
  test(`a pull secret with ${annotation} belongs to its account`, () => {
    const secretOf = (account: string) => ({ metadata: { name: 'x', annotations: { [annotation]: account } } });
    const facts = (account: string) => [
      isOwn({ kind: 'Secret' }, secretOf(account)),
      isOfCluster({ kind: 'Secret' }, secretOf(account)),
    ];
    expect([name, 'default', 'of-a-user'].map(facts)).toEqual([
      [true, false],
      [false, true],
      [false, false],
    ]);
  });
}
