export type Variables = Readonly<Record<string, string>>;

/** A machine variable we have set, and what stood there before; no `previous` where there was nothing. */
export interface OwnedVariable {
  name: string;
  value: string;
  previous?: string;
  /** The value we had set before this one; it may still stand there if the agent was stopped between record and change. */
  was?: string;
}

export interface EnvironmentPlan {
  writes: { name: string; value: string }[];
  /** Values that stood there before us and are put back. */
  restores: { name: string; value: string }[];
  removals: string[];
  owned: OwnedVariable[];
  /** What is taken back; it stays in the record until that has been done. */
  released: OwnedVariable[];
  /** What watched variables will be, '' where they are absent: processes must see the same after a reboot. */
  expected: Record<string, string>;
  changed: boolean;
}

export interface EnvironmentInput {
  /** The machine variables as they are. */
  registry: Variables;
  wanted: Variables;
  watched: readonly string[];
  /** What we have set so far. Undefined on a host of the Go operator, which kept no record: all watched names are ours. */
  owned: readonly OwnedVariable[] | undefined;
}

/** Windows compares names of variables without regard to case. */
export function variableKey(name: string): string {
  return name.toLowerCase();
}

/** Sets what is wanted and takes back what is no longer wanted, but only where we had set it. */
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
    // A value of the administrator that happens to be the one wanted stays the administrator's.
    if (record !== undefined || differs) plan.owned.push(ownedNow({ name, value }, record, current?.value));
  }
  for (const [key, record] of before) if (!desired.has(key)) takeBack(record, present.get(key), plan);
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

function takeBack(
  record: OwnedVariable,
  current: { name: string; value: string } | undefined,
  plan: EnvironmentPlan,
): void {
  // Somebody has set it to something else since: it is theirs now.
  if (current === undefined || ![record.value, record.was].includes(current.value)) return;
  plan.released.push(record);
  if (record.previous === undefined) plan.removals.push(current.name);
  else if (record.previous !== current.value) plan.restores.push({ name: current.name, value: record.previous });
}

/** A variable that the administrator has set is left out: whether processes see it is not ours to judge. */
function expectedAfter(
  watched: readonly string[],
  present: ReadonlyMap<string, { value: string }>,
  desired: ReadonlyMap<string, { value: string }>,
  plan: EnvironmentPlan,
): Record<string, string> {
  const restored = new Map(plan.restores.map(({ name, value }) => [variableKey(name), value]));
  const removed = new Set(plan.removals.map(variableKey));
  const ours = watched.filter(name => {
    const key = variableKey(name);
    return desired.has(key) || restored.has(key) || removed.has(key) || !present.has(key);
  });
  const after = (key: string) => desired.get(key)?.value ?? restored.get(key) ?? '';
  return Object.fromEntries(ours.map(name => [name, after(variableKey(name))]));
}
