/** A variable of a command line that is replaced by a value of the Node object. */
export interface NodeVariable {
  name: string;
  /** kubectl JSONPath template; text without braces is literal. */
  jsonPath: string;
}

/** A PowerShell script that runs before a service is configured; only the Go operator writes them. */
export interface PreScript {
  /** Variable that the output replaces; missing when the output is not used. */
  variable?: string;
  path: string;
  args: NodeVariable[];
}

/** Values that the agent determines on its host. */
export const hostVariableSources = ['nodeIP', 'fqdn', 'awsLocalHostname', 'gcpHostname'] as const;
export type HostVariableSource = (typeof hostVariableSources)[number];

export interface HostVariable {
  name: string;
  source: HostVariableSource;
}

/** What the agent must prepare before a service starts. */
export const preparationKinds = ['defender-exclusion', 'cni-and-kube-proxy', 'host-route'] as const;
export type PreparationKind = (typeof preparationKinds)[number];

export interface Preparation {
  kind: PreparationKind;
  arguments: Record<string, string>;
}

export interface Service {
  name: string;
  /** Full command line with variables. */
  command: string;
  nodeVariables: NodeVariable[];
  preScripts: PreScript[];
  hostVariables: HostVariable[];
  prepare: Preparation[];
  dependencies: string[];
  /** Started by `bootstrap`, before the Node exists. */
  bootstrap: boolean;
  /** Lower starts earlier. */
  priority: number;
}

export interface FileInfo {
  path: string;
  checksum: string;
}

/** The content of the ConfigMap `windows-services-<version>`: the desired state of a host. */
export interface ServicesManifest {
  services: Service[];
  files: FileInfo[];
  environment: Record<string, string>;
  watchedEnvironment: string[];
}

/** A service with defaults for the other members. */
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

/** Sorted by priority; the order of equal priorities is kept. */
export function byPriority(services: readonly Service[]): Service[] {
  return services.toSorted((one, other) => one.priority - other.priority);
}
