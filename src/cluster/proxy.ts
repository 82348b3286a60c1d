import { proxyVariables as names } from '#contract/names.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProxyVariables {
  /** A variable that is present but empty counts: it says that there is a cluster proxy. */
  enabled: boolean;
  /** By name, in the order in which they are written. Values may hold a password. */
  variables: Record<string, string>;
}

/** The proxy variables of the operator's own environment; names in lower case are not ours. */
export function proxyVariables(environment: Environment): ProxyVariables {
  const present = names.flatMap(name => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { enabled: present.length > 0, variables: Object.fromEntries(present) };
}
