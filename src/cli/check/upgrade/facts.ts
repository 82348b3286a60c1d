import { AppError, isAppError } from '#base/errors.ts';
import { Fields } from '#base/fields.ts';
import { configMapName } from '#contract/names.ts';
import { kubeletVersionKey } from '#contract/operator-status.ts';
import { operatorReleases } from '#contract/supported-versions.ts';
import { configMaps } from '#kube/resources.ts';
import { type ClusterReaderDeps, readCluster } from '../../status/cluster-reader.ts';
import { checkOperator, findOperators } from '../../status/missing-operator.ts';
import { hostViews } from '../../status/view/cluster-hosts.ts';
import type { ClusterView } from '../../status/view/host-view.ts';
import { isOurs } from './hosts.ts';

/** What the checks decide on. */
export interface UpgradeFacts {
  view: ClusterView;
  /** gitVersion of the API server. */
  server: string;
  /** gitVersion after the upgrade; undefined when only the present state is checked. */
  target: string | undefined;
  /** Kubelet in the payload of the operator that runs, or ran last; undefined when it is not known. */
  payload: string | undefined;
}

/** Reads what `wmco status` reads, and the version of the API server. */
export async function readUpgradeFacts(
  deps: ClusterReaderDeps,
  target: string | undefined,
  signal: AbortSignal,
): Promise<UpgradeFacts> {
  const { client } = deps;
  const version = new Fields(await client.raw('GET', '/version', { signal, timeoutMs: callTimeoutMs }), '/version');
  const view = await readCluster({ ...deps, isDefinitionOptional: true }, signal);
  await checkPlace(view, deps, signal);
  const payload = (await reportedKubelet(deps, signal)) ?? knownKubelet(view.operatorVersion);
  return { view, server: version.requiredString('gitVersion'), target, payload };
}

const callTimeoutMs = 20_000;

/** Between two releases there may be nothing but Nodes; but not in a namespace that was mistaken. */
async function checkPlace(view: ClusterView, deps: ClusterReaderDeps, signal: AbortSignal): Promise<void> {
  if (view.hasOperator === 'yes') return;
  const isBetween = hostViews(view).some(host => isOurs(host, view));
  if (isBetween && (await findOperators(deps, signal)).length === 0) return;
  await checkOperator(view, deps, signal).catch((error: unknown) => {
    if (!isAppError(error, 'OPERATOR_MISSING') || isBetween || !error.remedy.startsWith('Install')) throw error;
    const remedy = `${error.remedy} Without a Windows node there is nothing to check.`;
    throw new AppError(error.code, error.message, { remedy, cause: error });
  });
}

/** Written by the operator; earlier versions did not. Listed, because `wmco status` needs no more. */
async function reportedKubelet(
  { client, namespace }: ClusterReaderDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const fieldSelector = `metadata.name=${configMapName.operatorStatus}`;
  const found = client.list(configMaps, { namespace, fieldSelector, signal, timeoutMs: callTimeoutMs });
  const { items } = await found.catch(() => ({ items: [] }));
  return items[0]?.data?.[kubeletVersionKey] || undefined;
}

function knownKubelet(operatorVersion: string): string | undefined {
  return operatorReleases.find(({ operator }) => operatorVersion.startsWith(`${operator}.`))?.kubelet;
}
