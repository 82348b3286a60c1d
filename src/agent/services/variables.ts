import type { HostVariableSource, Service } from '#contract/services/manifest.ts';
import type { HostValues, NodeSource, ScriptRunner } from '../ports.ts';
import { expandCommand, resolveNodeVariables, scriptText } from './expand.ts';

export interface VariablePorts {
  scripts: ScriptRunner;
  host: HostValues;
}

/** The command of a service with the values of all its variables. */
export async function expandService(
  service: Service,
  node: NodeSource | undefined,
  ports: VariablePorts,
  signal: AbortSignal,
): Promise<string> {
  const values = new Map<string, string>();
  if (service.nodeVariables.length > 0) {
    const found = resolveNodeVariables(node?.object, service.nodeVariables);
    for (const [name, value] of Object.entries(found)) values.set(name, value);
  }
  for (const { name, source } of service.hostVariables) {
    values.set(name, await hostValue(source, node?.name, ports.host, signal));
  }
  for (const script of service.preScripts) {
    if (script.variable === undefined) continue;
    const text = scriptText(script, node?.object, `service ${service.name}`);
    values.set(script.variable, (await ports.scripts.run(text, signal, 'one line')).trim());
  }
  return expandCommand(service, Object.fromEntries(values));
}

/** Runs native preparations, then scripts without a variable. True if a file has changed. */
export async function prepareService(
  service: Service,
  node: NodeSource | undefined,
  ports: VariablePorts,
  signal: AbortSignal,
): Promise<boolean> {
  let changed = false;
  for (const preparation of service.prepare) {
    changed = (await ports.host.prepare(preparation, node, signal)) || changed;
  }
  for (const script of service.preScripts) {
    if (script.variable !== undefined) continue;
    await ports.scripts.run(scriptText(script, node?.object, `service ${service.name}`), signal);
  }
  return changed;
}

/** Falls back to the name of the Node, so that an unreachable metadata service does not stop a configured host. */
async function hostValue(
  source: HostVariableSource,
  nodeName: string | undefined,
  host: HostValues,
  signal: AbortSignal,
): Promise<string> {
  try {
    return (await host.resolve(source, signal)).trim();
  } catch (error) {
    signal.throwIfAborted();
    if (source === 'nodeIP' || nodeName === undefined) throw error;
    return nodeName;
  }
}
