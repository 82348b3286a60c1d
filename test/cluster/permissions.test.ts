import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { namespaceName, operatorName } from '../../src/contract/names.ts';
import { certificateSigningRequests, namespaces, roles } from '../../src/kube/resources.ts';
import { accountToken, accountUser } from '../kit/account-token.ts';
import { type AuditedRequest, auditedRequests } from '../kit/cluster/audit-log.ts';
import { type FreshCluster, startFreshCluster } from '../kit/fresh-cluster.ts';
import { applyManifests, installedRights, optionalRights } from '../kit/install-manifests.ts';
import { type InstalledOperator, installedOperator } from '../kit/installed-operator.ts';
import * as story from '../kit/rights-story.ts';
import { allows, grantedRights, refusedRights, rightText, type SingleRight, usedRights } from '../kit/single-rights.ts';

/** The operator on a real API server with exactly the rights of its manifests: none is missing, and none is unused. */

const own = ({ metadata }: { metadata: { name: string } }) => metadata.name.startsWith(operatorName);
const granted = grantedRights([...installedRights('openshift'), ...optionalRights('cluster-api')].filter(own));

const countedUp = 'an event that is recorded again is counted up, wherever it is';
const eventsTest = 'src/kube/events/events.test.ts';

/** What the story does not use, and the test that does. */
const usedElsewhere: readonly [right: string, why: string, test: string][] = [
  [
    'use securitycontextconstraints.security.openshift.io hostnetwork-v2 in the cluster',
    'OpenShift asks for it when it admits the pod of the Deployment, which uses the host network',
    'src/operator/permissions.test.ts',
  ],
  [
    'create secrets windows-private-keys in openshift-windows-machine-config-operator',
    'server-side apply of a missing object needs it, but is a patch in the audit log',
    'test/kit/parity-cases/rbac.ts',
  ],
  ['patch events in default', countedUp, eventsTest],
  ['patch events in openshift-machine-api', countedUp, eventsTest],
  ['patch events in openshift-windows-machine-config-operator', countedUp, eventsTest],
];

function requestsOf({ cluster, namespace }: FreshCluster): AuditedRequest[] {
  return auditedRequests(cluster, accountUser(namespace, operatorName));
}

async function used(fresh: FreshCluster): Promise<SingleRight[]> {
  const { items } = await fresh.admin.list(certificateSigningRequests);
  const signers = new Map(items.map(({ metadata, spec }) => [metadata.name ?? '', spec.signerName ?? '']));
  return usedRights(requestsOf(fresh), signers);
}

/** An operator that lacks one right says which. */
async function takeRight(fresh: FreshCluster, { log }: InstalledOperator): Promise<void> {
  const { admin, namespace } = fresh;
  const { rules } = await admin.get(roles, operatorName, { namespace });
  const fewer = (rules ?? []).map(rule => ({
    ...rule,
    verbs: rule.resourceNames?.includes('windows-exporter') ? rule.verbs.filter(verb => verb !== 'patch') : rule.verbs,
  }));
  await admin.patch(roles, operatorName, { type: 'merge', body: { rules: fewer } }, { namespace });
  const refused = async () => {
    await story.spoilService(admin, namespace);
    return refusedRights(requestsOf(fresh));
  };
  await expect.poll(refused).toEqual([`patch services windows-exporter in ${namespace}`]);
  const sentence = `cannot patch resource "services" in API group "" in the namespace "${namespace}"`;
  const errors = () => log.lines.map(({ fields: { error } }) => (error instanceof Error ? error.message : ''));
  await expect.poll(() => errors().join('\n')).toContain(sentence);
}

test('the operator uses every right that it has, needs no other, and names one that is missing', async () => {
  const fresh = await startFreshCluster('openshift', 'Azure');
  onTestFinished(() => fresh[Symbol.asyncDispose]());
  const { admin, namespace } = fresh;
  await admin.create(namespaces, { metadata: { name: namespaceName.clusterApi } });
  await fresh.install();
  await applyManifests(admin, optionalRights('cluster-api'));
  await story.leaveTraces(fresh);
  const metricsAddress = { host: '0.0.0.0', port: 0 };
  const conditionName = await story.makeOperatorCondition(fresh);
  const settings = { metricsAddress, conditionName };
  const operator = await installedOperator(fresh, { release: { version: '11.0.0-a' }, settings });
  onTestFinished(() => operator.stop());
  await story.join(fresh, operator);
  expect(await story.scrape(operator, await accountToken(admin, namespace, 'default'))).toBe(403);
  await story.tamper(fresh);
  await operator.stop();
  const next = await story.upgrade(fresh, '11.0.1-b', '11.0.0-a');
  onTestFinished(() => next.stop());
  await story.leave(fresh);

  const uses = await used(fresh);
  const unused = granted.filter(right => !uses.some(use => allows(right, use))).map(rightText);
  const known = usedElsewhere.map(([right]) => right);
  expect(unused.filter(right => !known.includes(right))).toEqual([]);
  expect(refusedRights(requestsOf(fresh))).toEqual([]);
  expect(fresh.otherErrors).toEqual([]);
  await takeRight(fresh, next);
}, 240_000);

test('what the story does not use is granted, and used by a test that exists', () => {
  const all = granted.map(rightText);
  for (const [right, , file] of usedElsewhere) {
    expect(all).toContain(right);
    expect(existsSync(join(import.meta.dirname, '..', '..', file)), file).toBe(true);
  }
});
