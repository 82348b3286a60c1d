/** A value taken from the Node object and put into a command line in place of its name. */
export interface NodeVariable {
  name: string;
  /** kubectl JSONPath template; text without braces stands for itself. */
  jsonPath: string;
}

/** PowerShell run before a service is configured; written by the Go operator, still understood. */
export interface PreScript {
  /** Name in the command that the output replaces; absent when the script runs for its effect only. */
  variable?: string;
  path: string;
  args: NodeVariable[];
}

/** Values the agent finds out natively on its host. */
export const hostVariableSources = ['nodeIP', 'fqdn', 'awsLocalHostname', 'gcpHostname'] as const;
export type HostVariableSource = (typeof hostVariableSources)[number];

export interface HostVariable {
  name: string;
  source: HostVariableSource;
}

/** What the agent must bring about natively before a service starts. */
export const preparationKinds = ['defender-exclusion', 'cni-and-kube-proxy'] as const;
export type PreparationKind = (typeof preparationKinds)[number];

export interface Preparation {
  kind: PreparationKind;
  arguments: Record<string, string>;
}

export interface Service {
  name: string;
  /** Full command line with the names of variables in it. */
  command: string;
  nodeVariables: NodeVariable[];
  preScripts: PreScript[];
  hostVariables: HostVariable[];
  prepare: Preparation[];
  dependencies: string[];
  /** Started by `bootstrap`, before there is a Node. */
  bootstrap: boolean;
  /** Lower starts earlier. */
  priority: number;
}

export interface FileInfo {
  path: string;
  checksum: string;
}

/** The content of the ConfigMap `windows-services-<version>`: what the agent makes true on its host. */
export interface ServicesManifest {
  services: Service[];
  files: FileInfo[];
  environment: Record<string, string>;
  watchedEnvironment: string[];
}

/** A service with nothing but the members given; the others are empty. */
export function service(of: Pick<Service, 'name' | 'command'> & Partial<Service>): Service {
  return {
    nodeVariables: [],
    preScripts: [],
    hostVariables: [],
    prepare: [],
    dependencies: [],
    bootstrap: false,
    priority: 0,
    ...of,
  };
}

/** Services in the order in which they are handled: by priority, in the order given where priorities are equal. */
export function byPriority(services: readonly Service[]): Service[] {
  return services.toSorted((one, other) => one.priority - other.priority);
}
