import { AppError } from '#base/errors.ts';
import { Fields, isRecord, jsonIn } from '#base/fields.ts';
import {
  byPriority,
  type HostVariable,
  hostVariableSources,
  type NodeVariable,
  type Preparation,
  preparationKinds,
  type PreScript,
  type Service,
  type ServicesManifest,
} from './manifest.ts';
import { checkDependencies, checkNames, checkPriorities, remedy } from './validate.ts';

type Data = Readonly<Record<string, string>>;

/** Parses and validates the data of a services ConfigMap. Services are sorted by priority. */
export function parseManifest(data: Data, label = 'services ConfigMap'): ServicesManifest {
  const keys = Object.keys(data);
  if (keys.length < 2 || keys.length > 4) {
    throw malformed(label, `has ${keys.length} data keys (${keys.join(', ') || 'none'}), expected 2 to 4`);
  }
  const services = list(data, 'services', label).map(item => parseService(item));
  const files = list(data, 'files', label).map(item => ({
    path: item.requiredString('path'),
    checksum: item.string('checksum') ?? '',
  }));
  checkNames(services, label);
  checkDependencies(services, label);
  checkPriorities(services, label);
  return {
    services: byPriority(services),
    files,
    environment: environment(data, label),
    watchedEnvironment: watched(data, label),
  };
}

function parseService(fields: Fields): Service {
  const priority = fields.number('priority') ?? 0;
  if (!Number.isSafeInteger(priority) || priority < 0) {
    throw malformed(fields.label, `${fields.path}.priority is ${priority}, not an integer of 0 or more`);
  }
  return {
    name: fields.requiredString('name'),
    command: fields.string('command') ?? fields.requiredString('path'),
    nodeVariables: fields.objects('nodeVariablesInCommand').map(parseVariable),
    preScripts: fields.objects('powershellPreScripts').map(parseScript),
    hostVariables: fields.objects('hostVariables').map(parseHostVariable),
    prepare: fields.objects('prepare').map(parsePreparation),
    dependencies: fields.strings('dependencies'),
    bootstrap: fields.boolean('bootstrap') ?? false,
    priority,
  };
}

function parseVariable(fields: Fields): NodeVariable {
  return { name: fields.requiredString('name'), jsonPath: fields.requiredString('nodeObjectJsonPath') };
}

function parseScript(fields: Fields): PreScript {
  const variable = fields.string('variableName') ?? '';
  // The Go operator writes "NodeArgs", since its struct has no tag, and reads it in any case.
  const args = fields.names().find(name => name.toLowerCase() === 'nodeargs') ?? 'NodeArgs';
  return {
    ...(variable !== '' && { variable }),
    path: fields.requiredString('path'),
    args: fields.objects(args).map(parseVariable),
  };
}

function parseHostVariable(fields: Fields): HostVariable {
  return { name: fields.requiredString('name'), source: oneOf(fields, 'source', hostVariableSources) };
}

function parsePreparation(fields: Fields): Preparation {
  return { kind: oneOf(fields, 'kind', preparationKinds), arguments: fields.stringMap('arguments') };
}

function oneOf<T extends string>(fields: Fields, name: string, allowed: readonly T[]): T {
  const text = fields.requiredString(name);
  const found = allowed.find(value => value === text);
  if (found !== undefined) return found;
  throw malformed(fields.label, `${fields.path}.${name} is ${JSON.stringify(text)}, not one of ${allowed.join(', ')}`);
}

function list(data: Data, key: string, label: string): Fields[] {
  if (!Object.hasOwn(data, key)) throw malformed(label, `has no data key "${key}"`);
  const value = json(data, key, label);
  if (!Array.isArray(value)) throw malformed(label, `data["${key}"] is not a JSON array`);
  return value.map((item, index) => {
    if (!isRecord(item)) throw malformed(label, `data["${key}"][${index}] is not an object`);
    return new Fields(item, label, `${key}[${index}]`);
  });
}

/** Messages do not quote values, which may contain a proxy password. */
function environment(data: Data, label: string): Record<string, string> {
  const value = optionalJson(data, 'environmentVars', label) ?? {};
  if (!isRecord(value) || !Object.values(value).every(text => typeof text === 'string')) {
    throw malformed(label, 'data["environmentVars"] is not a JSON object of strings');
  }
  return value as Record<string, string>;
}

function watched(data: Data, label: string): string[] {
  const value = optionalJson(data, 'watchedEnvironmentVars', label) ?? [];
  if (!Array.isArray(value) || !value.every(name => typeof name === 'string')) {
    throw malformed(label, 'data["watchedEnvironmentVars"] is not a JSON array of strings');
  }
  return value;
}

function optionalJson(data: Data, key: string, label: string): unknown {
  return (data[key] ?? '') === '' ? undefined : (json(data, key, label) ?? undefined);
}

function json(data: Data, key: string, label: string): unknown {
  const value = jsonIn(data[key] ?? '');
  if (value === undefined) throw malformed(label, `data["${key}"] is not valid JSON`);
  return value;
}

function malformed(label: string, what: string): AppError {
  return new AppError('SERVICES_MALFORMED', `${label}: ${what}`, { remedy });
}
