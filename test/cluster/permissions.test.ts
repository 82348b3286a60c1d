import { expect, onTestFinished, test } from 'vitest';
import { namespaceName, operatorName } from '../../src/contract/names.ts';
import { certificateSigningRequests, namespaces } from '../../src/kube/resources.ts';
import { accountToken, accountUser } from '../kit/account-token.ts';
import { auditedRequests, refusedRequests } from '../kit/cluster/audit-log.ts';
import { type FreshCluster, startFreshCluster } from '../kit/fresh-cluster.ts';
import { applyManifests, installedRights, optionalRights } from '../kit/install-manifests.ts';
import { installedOperator } from '../kit/installed-operator.ts';
import * as story from '../kit/rights-story.ts';
import { allows, grantedRights, rightText, type SingleRight, usedRights } from '../kit/single-rights.ts';

/** The operator on a real API server with exactly the rights of its manifests: none is missing, and none is unused. */

const granted = grantedRights([...installedRights('openshift'), ...optionalRights('cluster-api')].filter(isOperators));

function isOperators({ metadata }: { metadata: { name: string } }): boolean {
  return metadata.name.startsWith(operatorName);
}

async function used({ admin, cluster, namespace }: FreshCluster): Promise<SingleRight[]> {
  const { items } = await admin.list(certificateSigningRequests);
  const signers = new Map(items.map(({ metadata, spec }) => [metadata.name ?? '', spec.signerName ?? '']));
  return usedRights(auditedRequests(cluster, accountUser(namespace, operatorName)), signers);
}

test('the operator uses every right that it has, and no other', async () => {
  const fresh = await startFreshCluster('openshift', 'Azure');
  onTestFinished(() => fresh[Symbol.asyncDispose]());
  const t0=performance.now(); const t=(x:string)=>console.log(x,Math.round(performance.now()-t0));
  const { admin, cluster, namespace } = fresh;
  const user = accountUser(namespace, operatorName);
  await admin.create(namespaces, { metadata: { name: namespaceName.clusterApi } });
  await fresh.install();
  await applyManifests(admin, optionalRights('cluster-api'));
  await story.leaveTraces(fresh);
  const metricsAddress = { host: '0.0.0.0', port: 0 };
  const operator = await installedOperator(fresh, { release: { version: '11.0.0-a' }, settings: { metricsAddress } });
  onTestFinished(() => operator.stop());
  t('started'); try { await story.join(fresh, operator);} catch(e) { const u=await used(fresh); console.log(granted.filter(r=>!u.some(x=>allows(r,x))).map(rightText)); console.log(refusedRequests(cluster,user)); throw e; }
  t('joined');
  expect(await story.scrape(operator, await accountToken(admin, namespace, 'default'))).toBe(403);
  await story.tamper(fresh);
  t('tampered');  await operator.stop();
  { const u=await used(fresh); console.log(granted.filter(r=>!u.some(x=>allows(r,x))).map(rightText));console.log(refusedRequests(cluster,user)); }
  const next = await story.upgrade(fresh, '11.0.1-b', '11.0.0-a');
  onTestFinished(() => next.stop());
  t('upgraded');
  await story.leave(fresh);

  t('left'); await next.stop(); t('stopped');
  const uses = await used(fresh);
  const unused = granted.filter(right => !uses.some(use => allows(right, use)));
  expect(unused.map(rightText)).toEqual([]);
  expect(refusedRequests(cluster, user)).toEqual([]);
}, 400_000);
