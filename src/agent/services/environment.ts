import { type OwnedVariable, variableKey, type Variables } from '../environment/plan.ts';
import type { InstalledService } from '../ports.ts';
import { serviceKey } from './order.ts';
import type { DesiredService } from './plan.ts';

/** The variables that the agent has set for one service. */
export interface ServiceVariables {
  service: string;
  variables: OwnedVariable[];
}

/** Variables that every service of the manifest gets. */
export interface WantedVariables {
  variables: Variables;
  /** What services see without a value of their own: Windows starts them with the machine variables of its boot. */
  inherited: Readonly<Record<string, string | undefined>>;
}

export interface EnvironmentsPlan {
  wanted: DesiredService[];
  /** To record before the change: it also has variables that are to be removed. */
  before: ServiceVariables[];
  /** To record when no service has failed. */
  after: ServiceVariables[];
}

/**
 * Adds their variables to the desired services. Variables of an administrator stay, unless they have the name of a wanted
 * one, and come back when that is no longer wanted. The Go operator set none, so that no record means none.
 */
export function planEnvironments(
  services: readonly DesiredService[],
  actual: readonly InstalledService[],
  record: readonly ServiceVariables[],
  wanted: WantedVariables,
): EnvironmentsPlan {
  const installed = new Map(actual.map(service => [serviceKey(service.name), service]));
  const owned = new Map(record.map(({ service, variables }) => [serviceKey(service), variables]));
  const listed = new Set(services.map(({ name }) => serviceKey(name)));
  // Windows deletes the variables of a service with it.
  const others = record.filter(({ service }) => {
    const key = serviceKey(service);
    return installed.has(key) && !listed.has(key);
  });
  const plan: EnvironmentsPlan = { wanted: [], before: [...others], after: [...others] };
  for (const service of services) {
    const key = serviceKey(service.name);
    const isNew = !installed.has(key);
    const current = isNew ? {} : installed.get(key)?.config.environment;
    const known = isNew ? [] : (owned.get(key) ?? []);
    if (current === undefined) {
      // Writing would lose variables of others.
      plan.wanted.push(service);
      for (const list of [plan.before, plan.after]) addRecord(list, service.name, known);
      continue;
    }
    const entries = planEntries(current, wanted.variables, known);
    const environmentChanged = !looksSame(current, entries.environment, wanted.inherited);
    plan.wanted.push({
      ...service,
      config: { ...service.config, environment: entries.environment },
      environmentChanged,
    });
    addRecord(plan.before, service.name, [...entries.owned, ...entries.released]);
    addRecord(plan.after, service.name, entries.owned);
  }
  return plan;
}

/**
 * What the services must see: the wanted variables, and for those that are no longer wanted the machine variable, which may
 * be missing, where Windows still starts services with another value.
 */
export function variablesFor(
  environment: Variables,
  expected: Variables,
  inherited: WantedVariables['inherited'],
): WantedVariables {
  const wanted = new Set(Object.keys(environment).map(variableKey));
  const seen = keyed(inherited);
  const stale = Object.entries(expected).filter(([name, value]) => {
    const key = variableKey(name);
    return !wanted.has(key) && value.trim() !== (seen.get(key)?.value ?? '').trim();
  });
  return { variables: { ...environment, ...Object.fromEntries(stale) }, inherited };
}

interface EntriesPlan {
  environment: Record<string, string>;
  owned: OwnedVariable[];
  released: OwnedVariable[];
}

function planEntries(current: Variables, wanted: Variables, record: readonly OwnedVariable[]): EntriesPlan {
  const [present, desired] = [keyed(current), keyed(wanted)];
  const before = new Map(record.map(variable => [variableKey(variable.name), variable]));
  const plan: EntriesPlan = { environment: {}, owned: [], released: [] };
  for (const [key, { name, value }] of present) {
    if (desired.has(key)) continue;
    const known = before.get(key);
    const isOwn = known !== undefined && hasSet(known, value);
    if (isOwn) plan.released.push(known);
    const kept = isOwn ? known.previous : value;
    if (kept !== undefined) plan.environment[name] = kept;
  }
  for (const [key, { name, value }] of desired) {
    const [found, known] = [present.get(key), before.get(key)];
    plan.environment[found?.name ?? name] = value;
    // A value that an administrator has set stays theirs, even if it equals the wanted one.
    if (known !== undefined || found?.value !== value) plan.owned.push(ownedNow({ name, value }, known, found?.value));
  }
  return plan;
}

/** `was` is what the service has now if the agent has set it: a service that does not stop may keep it for long. */
function ownedNow(
  { name, value }: { name: string; value: string },
  known: OwnedVariable | undefined,
  found: string | undefined,
): OwnedVariable {
  const isOwn = known !== undefined && (found === undefined || hasSet(known, found));
  const previous = isOwn ? known.previous : found;
  const was = isOwn && found !== undefined && found !== value ? found : undefined;
  return { name, value, ...(previous !== undefined && { previous }), ...(was !== undefined && { was }) };
}

function hasSet({ value, was }: OwnedVariable, found: string): boolean {
  return found === value || found === was;
}

/** Whether processes see the same; an empty variable counts as missing. */
function looksSame(one: Variables, other: Variables, inherited: WantedVariables['inherited']): boolean {
  const [before, after, base] = [keyed(one), keyed(other), keyed(inherited)];
  const seen = (entries: typeof before, key: string) => (entries.get(key) ?? base.get(key))?.value ?? '';
  return [...before.keys(), ...after.keys()].every(key => seen(before, key) === seen(after, key));
}

function addRecord(record: ServiceVariables[], service: string, variables: OwnedVariable[]): void {
  if (variables.length > 0) record.push({ service, variables });
}

function keyed(variables: Readonly<Record<string, string | undefined>>): Map<string, { name: string; value: string }> {
  const entries = Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  return new Map(entries.map(entry => [variableKey(entry.name), entry]));
}
