import { attempt } from '#base/errors.ts';
import { variableKey, type Variables } from '../../environment/plan.ts';
import { checkVariable } from '../files/environment.ts';
import type { Registry } from '../files/registry.ts';

/** Variables of a service: a value of its registry key, which Windows reads when it starts the service. */
const valueName = 'Environment';

function keyOf(service: string): string {
  return `SYSTEM\\CurrentControlSet\\Services\\${service}`;
}

/** Undefined when they cannot be read, or could not be written back as they are. */
export function readVariables(registry: Pick<Registry, 'list'>, service: string): Variables | undefined {
  const read = attempt(() => registry.list(keyOf(service), valueName) ?? []);
  return read.ok ? variablesIn(read.value) : undefined;
}

/** Removes the value when there are none. */
export function writeVariables(registry: Registry, service: string, variables: Variables): void {
  const entries = Object.entries(variables);
  for (const [name, value] of entries) checkVariable(name, value);
  const key = keyOf(service);
  if (entries.length === 0) registry.removeValue(key, valueName);
  else
    registry.setList(
      key,
      valueName,
      entries.map(([name, value]) => `${name}=${value}`),
    );
}

function variablesIn(lines: readonly string[]): Variables | undefined {
  const entries = lines.map((line): [string, string] => {
    const end = line.indexOf('=');
    return [line.slice(0, Math.max(0, end)), line.slice(end + 1)];
  });
  const keys = new Set(entries.map(([name]) => variableKey(name)));
  return keys.has('') || keys.size < entries.length ? undefined : Object.fromEntries(entries);
}
