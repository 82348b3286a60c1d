import { servicesAnnotation } from '../names.ts';
import { servicesConfigMapName } from '../version.ts';
import type { NodeVariable, PreScript, Service, ServicesManifest } from './manifest.ts';

/** Member names are those of the Go operator, whose agents read them too. */
function wireService(service: Service): object {
  return {
    name: service.name,
    path: service.command,
    ...(service.nodeVariables.length > 0 && { nodeVariablesInCommand: service.nodeVariables.map(wireVariable) }),
    ...(service.preScripts.length > 0 && { powershellPreScripts: service.preScripts.map(wireScript) }),
    ...(service.hostVariables.length > 0 && { hostVariables: service.hostVariables }),
    ...(service.prepare.length > 0 && { prepare: service.prepare }),
    ...(service.dependencies.length > 0 && { dependencies: service.dependencies }),
    bootstrap: service.bootstrap,
    priority: service.priority,
  };
}

function wireVariable(variable: NodeVariable): object {
  return { name: variable.name, nodeObjectJsonPath: variable.jsonPath };
}

function wireScript(script: PreScript): object {
  return {
    ...(script.variable !== undefined && script.variable !== '' && { variableName: script.variable }),
    path: script.path,
    NodeArgs: script.args.length > 0 ? script.args.map(wireVariable) : null,
  };
}

export function printServices(services: readonly Service[]): string {
  return JSON.stringify(services.map(wireService));
}

/** The data of the ConfigMap; the key for variables is omitted when there are none. */
export function printManifest(manifest: ServicesManifest): Record<string, string> {
  return {
    services: printServices(manifest.services),
    files: JSON.stringify(manifest.files),
    ...(Object.keys(manifest.environment).length > 0 && { environmentVars: JSON.stringify(manifest.environment) }),
    watchedEnvironmentVars: JSON.stringify(manifest.watchedEnvironment),
  };
}

export interface ServicesConfigMap {
  apiVersion: 'v1';
  kind: 'ConfigMap';
  metadata: { name: string; namespace: string; annotations?: Record<string, string> };
  immutable: true;
  data: Record<string, string>;
}

export function servicesConfigMap(
  manifest: ServicesManifest,
  version: string,
  namespace: string,
  salt = '',
): ServicesConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: servicesConfigMapName(version), namespace, ...saltMetadata(salt) },
    immutable: true,
    data: printManifest(manifest),
  };
}

/** The part of its metadata that agents need for the hash. */
export function saltMetadata(salt: string): Pick<ServicesConfigMap['metadata'], 'annotations'> {
  return salt === '' ? {} : { annotations: { [servicesAnnotation.salt]: salt } };
}
