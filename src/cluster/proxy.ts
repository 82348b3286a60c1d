import { AppError } from '#base/errors.ts';
import { proxyVariables as names } from '#contract/names.ts';
import type { KubeObject } from '#contract/object.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProxyVariables {
  /** True if any variable is set, even to an empty value. */
  enabled: boolean;
  /** By name, in the order of `proxyVariables`. Values may hold a password. */
  variables: Record<string, string>;
}

/** The proxy variables in the environment of the operator; names in lower case do not count. */
export function proxyVariables(environment: Environment): ProxyVariables {
  const present = names.flatMap(name => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { enabled: present.length > 0, variables: Object.fromEntries(present) };
}

const members: Readonly<Record<(typeof names)[number], string>> = {
  HTTP_PROXY: 'httpProxy',
  HTTPS_PROXY: 'httpsProxy',
  NO_PROXY: 'noProxy',
};

/** The variables of the object `Proxy/cluster`, whose status is what is in force; empty when it is switched off. */
export function clusterProxy({ fields, label }: KubeObject): Record<string, string> {
  const status = fields.object('status');
  const present = names.flatMap(name => {
    const value = status.raw(members[name]) ?? '';
    // The message does not show the value, which may hold a password.
    if (typeof value !== 'string') throw unusable(label, members[name], 'is not a string');
    if (/\p{Cc}/u.test(value)) throw unusable(label, members[name], 'contains a control character');
    return value === '' ? [] : [[name, value] as const];
  });
  // Exceptions alone are no proxy.
  return present.some(([name]) => name !== 'NO_PROXY') ? Object.fromEntries(present) : {};
}

function unusable(label: string, member: string, what: string): AppError {
  return new AppError('FIELD_INVALID', `${label}: status.${member} ${what}`, {
    remedy: `Correct spec.${member} of the Proxy; the cluster network operator writes its status.`,
  });
}
