import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { memberAt } from '../object.ts';
import type { LocalDeleteOptions } from '../ports.ts';
import { badRequest, cause, invalidOptions } from '../status.ts';

export type DeleteOptions = LocalDeleteOptions & { dryRun?: boolean };

const policies = ['Foreground', 'Background', 'Orphan'] as const;

/** Options of a delete come in its body, or else in its query. */
export function readDeleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const given = body === undefined ? fromQuery(query) : body;
  if (!isRecord(given)) throw badRequest('the object provided is unrecognized (must be of type DeleteOptions)');
  const policy = given['propagationPolicy'] ?? undefined;
  const orphan = given['orphanDependents'] ?? undefined;
  const causes = [...policyCauses(policy, orphan), ...dryRunCauses(given['dryRun'])];
  if (causes.length > 0) throw invalidOptions('DeleteOptions', causes);
  const seconds = given['gracePeriodSeconds'];
  const byOrphan = orphan === undefined ? undefined : orphan === true ? 'Orphan' : 'Background';
  const propagationPolicy = (policy ?? byOrphan) as LocalDeleteOptions['propagationPolicy'];
  const preconditions = preconditionsOf(given);
  return {
    ...(typeof seconds === 'number' && Number.isInteger(seconds) ? { gracePeriodSeconds: Math.max(0, seconds) } : {}),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(Array.isArray(given['dryRun']) && given['dryRun'].length > 0 ? { dryRun: true } : {}),
  };
}

/** What a request's dryRun may be. */
export function dryRunCauses(value: unknown): StatusCause[] {
  const list = Array.isArray(value) ? value.map(String) : [];
  if (list.every(item => item === 'All')) return [];
  const shown = `[]string{${list.map(item => `"${item}"`).join(', ')}}`;
  const message = `Unsupported value: ${shown}: supported values: "All"`;
  return [{ reason: 'FieldValueNotSupported', message, field: 'dryRun' }];
}

function fromQuery(query: URLSearchParams): Record<string, unknown> {
  const seconds = query.get('gracePeriodSeconds');
  const orphan = query.get('orphanDependents');
  const policy = query.get('propagationPolicy');
  return {
    ...(seconds === null ? {} : { gracePeriodSeconds: Number(seconds) }),
    ...(orphan === null ? {} : { orphanDependents: orphan === 'true' }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    dryRun: query.getAll('dryRun'),
  };
}

function policyCauses(policy: unknown, orphan: unknown): StatusCause[] {
  if (policy === undefined) return [];
  const field = 'propagationPolicy';
  if (orphan !== undefined)
    return [cause.invalid(field, policy, 'orphanDependents and deletionPropagation cannot be both set')];
  return policies.some(known => known === policy) ? [] : [cause.unsupported(field, policy, [...policies, 'nil'])];
}

function preconditionsOf(given: Record<string, unknown>): LocalDeleteOptions['preconditions'] {
  const [uid, resourceVersion] = ['uid', 'resourceVersion'].map(name => memberAt(given, `preconditions.${name}`));
  return {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  };
}
