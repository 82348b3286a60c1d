export type Variables = Readonly<Record<string, string>>;

/** A machine variable that the agent has set; `previous` is its value before that, if it existed. */
export interface OwnedVariable {
  name: string;
  value: string;
  previous?: string;
  /** The value set before this one; it may still be set if the agent was stopped between record and change. */
  was?: string;
}

export interface EnvironmentPlan {
  writes: { name: string; value: string }[];
  /** Values to restore that were set before the agent changed them. */
  restores: { name: string; value: string }[];
  removals: string[];
  owned: OwnedVariable[];
  /** Reverted variables; they stay in the record until the change is done. */
  released: OwnedVariable[];
  /** Future values of watched variables, '' if missing; processes must see the same after a reboot. */
  expected: Record<string, string>;
  changed: boolean;
}

export interface EnvironmentInput {
  /** The current machine variables. */
  registry: Variables;
  wanted: Variables;
  watched: readonly string[];
  /** Undefined on a host of the Go operator, which kept no record: then the agent owns all watched variables. */
  owned: readonly OwnedVariable[] | undefined;
}

/** Windows compares variable names without regard to case. */
export function variableKey(name: string): string {
  return name.toLowerCase();
}

/** Sets wanted variables and reverts those that are no longer wanted, but only if the agent has set them. */
export function planEnvironment({ registry, wanted, watched, owned }: EnvironmentInput): EnvironmentPlan {
  const present = new Map(Object.entries(registry).map(([name, value]) => [variableKey(name), { name, value }]));
  const before = new Map((owned ?? adopted(watched, present)).map(item => [variableKey(item.name), item]));
  const desired = new Map(Object.entries(wanted).map(([name, value]) => [variableKey(name), { name, value }]));
  const plan = emptyPlan();
  for (const [key, { name, value }] of desired) {
    const current = present.get(key);
    const record = before.get(key);
    const differs = (current?.value ?? '') !== value;
    if (differs) plan.writes.push({ name: current?.name ?? name, value });
    // A value that an administrator has set stays theirs, even if it equals the wanted one.
    if (record !== undefined || differs) plan.owned.push(ownedNow({ name, value }, record, current?.value));
  }
  for (const [key, record] of before) if (!desired.has(key)) revert(record, present.get(key), plan);
  plan.changed = plan.writes.length + plan.restores.length + plan.removals.length > 0;
  plan.expected = expectedAfter(watched, present, desired, plan);
  return plan;
}

function emptyPlan(): EnvironmentPlan {
  return { writes: [], restores: [], removals: [], owned: [], released: [], expected: {}, changed: false };
}

function adopted(watched: readonly string[], present: ReadonlyMap<string, { value: string }>): OwnedVariable[] {
  return watched.flatMap(name => {
    const current = present.get(variableKey(name));
    return current === undefined ? [] : [{ name, value: current.value }];
  });
}

function ownedNow(
  { name, value }: { name: string; value: string },
  record: OwnedVariable | undefined,
  current: string | undefined,
): OwnedVariable {
  const previous = record === undefined ? current : record.previous;
  const was = record === undefined || record.value === value ? undefined : record.value;
  return { name, value, ...(previous !== undefined && { previous }), ...(was !== undefined && { was }) };
}

function revert(
  record: OwnedVariable,
  current: { name: string; value: string } | undefined,
  plan: EnvironmentPlan,
): void {
  // A user has changed it since, so it belongs to them now.
  if (current === undefined || ![record.value, record.was].includes(current.value)) return;
  plan.released.push(record);
  if (record.previous === undefined) plan.removals.push(current.name);
  else if (record.previous !== current.value) plan.restores.push({ name: current.name, value: record.previous });
}

/** Without variables that an administrator has set: processes need not see those. */
function expectedAfter(
  watched: readonly string[],
  present: ReadonlyMap<string, { value: string }>,
  desired: ReadonlyMap<string, { value: string }>,
  plan: EnvironmentPlan,
): Record<string, string> {
  const restored = new Map(plan.restores.map(({ name, value }) => [variableKey(name), value]));
  const removed = new Set(plan.removals.map(variableKey));
  const owned = watched.filter(name => {
    const key = variableKey(name);
    return desired.has(key) || restored.has(key) || removed.has(key) || !present.has(key);
  });
  const after = (key: string) => desired.get(key)?.value ?? restored.get(key) ?? '';
  return Object.fromEntries(owned.map(name => [name, after(variableKey(name))]));
}
