import { AppError, shown } from '#base/errors.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { operatorName } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import { deployments, leases, namespaces } from '#kube/resources.ts';
import type { ClusterView } from './view/host-view.ts';

interface SearchDeps {
  client: Pick<Client, 'list' | 'find'>;
  namespace: string;
}

const options = { timeoutMs: 10_000, maxRetries: 0 } as const;

/** Without any object of an operator, the namespace is probably wrong. */
export async function checkOperator(
  { hasOperator }: Pick<ClusterView, 'hasOperator'>,
  deps: SearchDeps,
  signal: AbortSignal,
): Promise<void> {
  if (hasOperator === 'yes') return;
  const others = await findOperators(deps, signal);
  // Objects that may not be read can exist.
  if (hasOperator === 'no' || others.length > 0) throw await missingOperatorError(others, deps, signal);
}

/** The namespaces with an operator, as far as they can be read. */
export async function findOperators({ client }: SearchDeps, signal: AbortSignal): Promise<string[]> {
  const call = { ...options, signal };
  const named = { fieldSelector: `metadata.name=${operatorName}` };
  const found = await Promise.all([
    namespacesIn(client.list(leases, { ...named, ...call })),
    namespacesIn(client.list(windowsInstances, { limit: 500, ...call })),
  ]);
  return [...new Set(found.flat())].sort();
}

/** Empty when the list cannot be read. */
async function namespacesIn(list: ReturnType<Client['list']>): Promise<string[]> {
  try {
    return (await list).items.flatMap(({ metadata }) => metadata.namespace ?? []);
  } catch {
    return [];
  }
}

/** The error for a namespace without an operator; names those that have one. */
async function missingOperatorError(
  others: readonly string[],
  { client, namespace }: SearchDeps,
  signal: AbortSignal,
): Promise<AppError> {
  const exists = await client.find(namespaces, namespace, { ...options, signal }).then(
    object => object !== undefined,
    // Without permission to read it, it may exist.
    () => true,
  );
  const where = exists
    ? `no operator in namespace ${shown(namespace)}`
    : `namespace ${shown(namespace)} does not exist`;
  const [first] = others;
  if (first === undefined && (await isInstalled(client, namespace, signal))) {
    return new AppError('OPERATOR_MISSING', `the operator in namespace ${shown(namespace)} has never run`, {
      remedy: `Run \`kubectl get pods -n ${namespace}\`: its pod has not started.`,
    });
  }
  if (first === undefined) {
    return new AppError('OPERATOR_MISSING', where, {
      remedy: 'Install the operator, or choose its namespace with --namespace or its cluster with --context.',
    });
  }
  const found = `the operator was found in ${others.map(each => shown(each)).join(', ')}`;
  return new AppError('OPERATOR_MISSING', `${where}; ${found}`, { remedy: `Use --namespace ${first}.` });
}

async function isInstalled(client: SearchDeps['client'], namespace: string, signal: AbortSignal): Promise<boolean> {
  const found = client.find(deployments, operatorName, { namespace, ...options, signal });
  return (await found.catch(() => undefined)) !== undefined;
}
