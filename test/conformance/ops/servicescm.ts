import { attempt } from '../../../src/base/errors.ts';
import { checkContent } from '../../../src/contract/services/compare.ts';
import { type Service, type ServicesManifest, service } from '../../../src/contract/services/manifest.ts';
import { parseManifest } from '../../../src/contract/services/parse.ts';
import { printServices, servicesConfigMap } from '../../../src/contract/services/print.ts';
import { checkDependencies, checkPriorities } from '../../../src/contract/services/validate.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  parseConfigMapData: (input: Input) => {
    const { services, files, environment, watchedEnvironment } = parseManifest(input.data ?? {});
    return {
      ok: true,
      servicesPresent: Array.isArray(services),
      filesPresent: Array.isArray(files),
      services,
      files,
      environmentVars: Object.keys(environment).length > 0 ? environment : null,
      watchedEnvironmentVars: watchedEnvironment,
    };
  },
  generateThenParse: (input: Input) => {
    const manifest = toManifest(input);
    const { name = '', namespace = '' } = input.configMap ?? {};
    const configMap = servicesConfigMap(manifest, name.replace('windows-services-', ''), namespace);
    return {
      ok: true,
      contentMatchesInput: attempt(() => checkContent(parseManifest(configMap.data), manifest)).ok,
      configMapKeys: Object.keys(configMap.data).toSorted(),
      name: configMap.metadata.name,
      immutable: configMap.immutable,
    };
  },
  compareWithExpected: (input: Input) => {
    checkContent(toManifest(input.existing), toManifest(input.expectedContent));
    return { ok: true };
  },
  validateDependencies: (input: Input) => {
    checkDependencies(toServices(input.services));
    return { ok: true };
  },
  validatePriorities: (input: Input) => {
    checkPriorities(toServices(input.services));
    return { ok: true };
  },
  wireFormat: (input: Input) => ({
    json: printServices((input.services ?? [input.service]).map(fromFields)),
  }),
};

function toManifest(content: Input): ServicesManifest {
  return {
    services: toServices(content.services),
    files: content.files ?? [],
    environment: content.environmentVars ?? {},
    watchedEnvironment: content.watchedEnvironmentVars ?? [],
  };
}

function toServices(entries: Input): Service[] {
  return (entries ?? []).map(fromWire);
}

/** A service with the member names of the stored JSON; not parsed, because rows contain invalid ones. */
function fromWire(entry: Input): Service {
  return service({
    name: entry.name,
    command: entry.path ?? '',
    nodeVariables: toVariables(entry.nodeVariablesInCommand),
    preScripts: (entry.powershellPreScripts ?? []).map((script: Input) => ({
      ...(script.variableName && { variable: script.variableName }),
      path: script.path,
      args: toVariables(script.NodeArgs ?? script.nodeArgs),
    })),
    dependencies: entry.dependencies ?? [],
    bootstrap: entry.bootstrap ?? false,
    priority: entry.priority ?? 0,
  });
}

function toVariables(list: Input): Service['nodeVariables'] {
  return (list ?? []).map((one: Input) => ({ name: one.name, jsonPath: one.nodeObjectJsonPath }));
}

/** A service with the member names of the product. */
function fromFields(entry: Input): Service {
  const scripts = (entry.preScripts ?? []).map((script: Input) => ({ ...script, args: script.args ?? [] }));
  const [nodeVariables, dependencies] = [entry.nodeVariables ?? [], entry.dependencies ?? []];
  return service({ ...entry, nodeVariables, dependencies, preScripts: scripts });
}
