import { expect, onTestFinished, test } from 'vitest';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { operatorName } from '../../src/contract/names.ts';
import { events } from '../../src/kube/resources.ts';
import { accountUser } from '../kit/account-token.ts';
import { auditedRequests } from '../kit/cluster/audit-log.ts';
import { startFreshCluster } from '../kit/fresh-cluster.ts';
import { installedOperator } from '../kit/installed-operator.ts';
import { refusedRights } from '../kit/single-rights.ts';

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
  });
}
