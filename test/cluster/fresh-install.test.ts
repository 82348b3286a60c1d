import { expect, onTestFinished, test } from 'vitest';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { defaultNamespace, operatorName, secretName } from '../../src/contract/names.ts';
import { certificateSigningRequests, events } from '../../src/kube/resources.ts';
import { kubernetesManifests } from '../../src/operator/kubernetes-manifests.ts';
import { accountUser } from '../kit/account-token.ts';
import { auditedRequests } from '../kit/cluster/audit-log.ts';
import { type FreshCluster, startFreshCluster } from '../kit/fresh-cluster.ts';
import { installedOperator } from '../kit/installed-operator.ts';
import { allows, grantedRights, refusedRights, rightText, usedRights } from '../kit/single-rights.ts';

for (const kind of ['openshift', 'kubernetes'] as const) {
  test(`on a fresh ${kind} the manifests, a private key and one entry give a Ready host`, async () => {
    const fresh = await startFreshCluster(kind);
    onTestFinished(() => fresh[Symbol.asyncDispose]());
    const { admin, cluster, namespace } = fresh;
    const host = await fresh.addHost('win-1');

    const unknown = await fresh.install();
    await fresh.givePrivateKey();
    await fresh.list([host]);
    const operator = await installedOperator(fresh);
    onTestFinished(() => operator[Symbol.asyncDispose]());

    const phases = async () =>
      (await admin.list(windowsInstances, { namespace })).items.map(({ status }) => status?.phase ?? 'none');
    await expect.poll(phases).toEqual(['Ready']);

    // Only these are newer than the oldest API server that is supported.
    const isPolicy = ({ kind: each }: { kind: string }) => each.startsWith('ValidatingAdmissionPolicy');
    expect(unknown.filter(each => cluster.minor >= 30 || !isPolicy(each))).toEqual([]);
    const { items } = await admin.list(events, { namespace: '' });
    expect(items.filter(({ type }) => type !== 'Normal').map(({ reason, message }) => `${reason}: ${message}`)).toEqual(
      [],
    );
    expect(operator.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    const user = accountUser(namespace, operatorName);
    const requests = auditedRequests(cluster, user);
    expect(requests.length).toBeGreaterThan(50);
    expect(refusedRights(requests)).toEqual([]);
    expect(fresh.otherErrors).toEqual([]);
    if (kind === 'kubernetes') {
      await operator.stop();
      await expectUsed(fresh);
    }
  });
}

/** What a join does not use of the permissions for clusters other than OpenShift, and the test that does. */
const usedElsewhere: readonly [right: string, test: string][] = [
  [`update secrets ${secretName.tls} in ${defaultNamespace}`, 'test/cluster/exporter.test.ts'],
  [`delete secrets ${secretName.tls} in ${defaultNamespace}`, 'test/cluster/exporter.test.ts'],
  // Only newer API servers have these, and the embedded one.
  ['list servicecidrs.networking.k8s.io kubernetes in the cluster', 'test/scenarios/operator-rights.test.ts'],
  ['watch servicecidrs.networking.k8s.io kubernetes in the cluster', 'test/scenarios/operator-rights.test.ts'],
];

/** The permissions of `deploy/rbac/openshift.yaml` and `operator.yaml` are compared in permissions.test.ts. */
async function expectUsed({ admin, cluster, namespace }: FreshCluster): Promise<void> {
  const { items } = await admin.list(certificateSigningRequests);
  const signers = new Map(items.map(({ metadata, spec }) => [metadata.name ?? '', spec.signerName ?? '']));
  const uses = usedRights(auditedRequests(cluster, accountUser(namespace, operatorName)), signers);
  const further = grantedRights(kubernetesManifests());
  const unused = further.filter(right => !uses.some(use => allows(right, use))).map(rightText);
  const known = usedElsewhere.map(([right]) => right);
  expect(unused.filter(right => !known.includes(right))).toEqual([]);
  for (const [right] of usedElsewhere) expect(further.map(rightText)).toContain(right);
}
