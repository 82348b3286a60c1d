import { proxyVariables as names } from '#contract/names.ts';

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
