import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { memberAt } from '../object.ts';
import type { LocalDeleteOptions } from '../ports.ts';
import { badRequest, cause, invalidOptions } from '../status.ts';

export type DeleteOptions = LocalDeleteOptions & { dryRun?: boolean };

const policies = ['Background', 'Orphan'] as const;

/** Reads the options that a delete has in its body. */
export function readDeleteOptions(body: unknown): DeleteOptions {
  if (!isRecord(body)) throw badRequest('the object provided is unrecognized (must be of type DeleteOptions)');
  const policy = body['propagationPolicy'] ?? undefined;
  const causes = [...policyCauses(policy), ...dryRunCauses(body['dryRun'])];
  if (causes.length > 0) throw invalidOptions('DeleteOptions', causes);
  const seconds = body['gracePeriodSeconds'];
  const [uid, resourceVersion] = ['uid', 'resourceVersion'].map(name => memberAt(body, `preconditions.${name}`));
  return {
    ...(typeof seconds === 'number' && Number.isInteger(seconds) && { gracePeriodSeconds: Math.max(0, seconds) }),
    ...(policy !== undefined && { propagationPolicy: policy as (typeof policies)[number] }),
    preconditions: {
      ...(typeof uid === 'string' && { uid }),
      ...(typeof resourceVersion === 'string' && { resourceVersion }),
    },
    ...(Array.isArray(body['dryRun']) && body['dryRun'].length > 0 && { dryRun: true }),
  };
}

/** What is wrong with the `dryRun` of a request. */
export function dryRunCauses(value: unknown): StatusCause[] {
  const list = Array.isArray(value) ? value.map(String) : [];
  if (list.every(item => item === 'All')) return [];
  const shown = `[]string{${list.map(item => `"${item}"`).join(', ')}}`;
  const message = `Unsupported value: ${shown}: supported values: "All"`;
  return [{ reason: 'FieldValueNotSupported', message, field: 'dryRun' }];
}

function policyCauses(policy: unknown): StatusCause[] {
  const isKnown = policy === undefined || policies.some(known => known === policy);
  return isKnown ? [] : [cause.unsupported('propagationPolicy', policy, policies)];
}
