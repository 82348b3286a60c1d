import { AppError, shown } from '#base/errors.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { operatorName } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import { leases, namespaces } from '#kube/resources.ts';

interface SearchDeps {
  client: Pick<Client, 'list' | 'find'>;
  namespace: string;
}

const options = { timeoutMs: 10_000, maxRetries: 0 } as const;

/** The error for a namespace without an operator; names those that have one. */
export async function missingOperatorError(
  { client, namespace }: SearchDeps,
  signal: AbortSignal,
): Promise<MissingOperatorError> {
  const call = { ...options, signal };
  const named = { fieldSelector: `metadata.name=${operatorName}` };
  const [namespacesFound, exists] = await Promise.all([
    Promise.all([
      namespacesIn(client.list(leases, { ...named, ...call })),
      namespacesIn(client.list(windowsInstances, { limit: 500, ...call })),
    ]),
    // Without permission to read it, it may exist.
    client.find(namespaces, namespace, call).then(
      object => object !== undefined,
      () => true,
    ),
  ]);
  const others = [...new Set(namespacesFound.flat())].sort();
  const where = exists
    ? `no operator in namespace ${shown(namespace)}`
    : `namespace ${shown(namespace)} does not exist`;
  const [first] = others;
  if (first === undefined) {
    const remedy = 'Install the operator, or choose its namespace with --namespace or its cluster with --context.';
    return new MissingOperatorError('OPERATOR_MISSING', where, { remedy });
  }
  const found = `the operator was found in ${others.map(each => shown(each)).join(', ')}`;
  return new MissingOperatorError(
    'OPERATOR_MISSING',
    `${where}; ${found}`,
    { remedy: `Use --namespace ${first}.` },
    true,
  );
}

class MissingOperatorError extends AppError {
  /** Whether another namespace has an operator. */
  readonly isElsewhere: boolean;

  constructor(code: 'OPERATOR_MISSING', message: string, options: { remedy: string }, isElsewhere = false) {
    super(code, message, options);
    this.isElsewhere = isElsewhere;
  }
}

/** Empty when the list cannot be read. */
async function namespacesIn(list: ReturnType<Client['list']>): Promise<string[]> {
  try {
    return (await list).items.flatMap(({ metadata }) => metadata.namespace ?? []);
  } catch {
    return [];
  }
}
