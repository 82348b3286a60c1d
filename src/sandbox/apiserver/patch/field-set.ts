import { isRecord } from '#base/fields.ts';
import { byteOrder } from '#base/compare.ts';

/** What a set holds at a step and below it. */
export interface Found {
  member: boolean;
  below: FieldSet;
}

/**
 * A set of paths in an object, as managedFields has them. A step of a path is a text: `f:name` for a member, `k:{…}` for an
 * item found by its keys, `v:…` for a scalar in a set. A path in the set says nothing about those above or below it.
 */
export class FieldSet {
  readonly #members: ReadonlySet<string>;
  readonly #children: ReadonlyMap<string, FieldSet>;

  private constructor(members: Iterable<string>, children: Iterable<readonly [string, FieldSet]>) {
    this.#members = new Set(members);
    this.#children = new Map([...children].filter(([, child]) => !child.isEmpty));
  }

  static readonly empty = new FieldSet([], []);

  /** A set of the steps that are members themselves, and of what lies below each step. */
  static of(members: Iterable<string>, children: Iterable<readonly [string, FieldSet]> = []): FieldSet {
    return new FieldSet(members, children);
  }

  static ofPath(...steps: readonly string[]): FieldSet {
    const [step, ...rest] = steps;
    if (step === undefined) return FieldSet.empty;
    return rest.length === 0 ? FieldSet.of([step]) : FieldSet.of([], [[step, FieldSet.ofPath(...rest)]]);
  }

  /** Reads the form of managedFields; undefined for something else. */
  static parse(fieldsV1: unknown): FieldSet | undefined {
    if (!isRecord(fieldsV1)) return undefined;
    const members: string[] = [];
    const children: [string, FieldSet][] = [];
    for (const [step, value] of Object.entries(fieldsV1)) {
      if (step === '.') continue;
      const below = isStep(step) ? FieldSet.parse(value) : undefined;
      if (below === undefined || !isRecord(value)) return undefined;
      if (Object.hasOwn(value, '.') || Object.keys(value).length === 0) members.push(step);
      children.push([step, below]);
    }
    return FieldSet.of(members, children);
  }

  print(): Record<string, unknown> {
    const steps = [...new Set([...this.#members, ...this.#children.keys()])].sort(byteOrder);
    const entries = steps.map(step => {
      const below = this.#children.get(step)?.print() ?? {};
      const self = this.#members.has(step) && Object.keys(below).length > 0 ? { '.': {} } : {};
      return [step, { ...self, ...below }] as const;
    });
    return Object.fromEntries(entries);
  }

  get isEmpty(): boolean {
    return this.#members.size === 0 && this.#children.size === 0;
  }

  has(path: readonly string[]): boolean {
    const [step, ...rest] = path;
    if (step === undefined) return false;
    return rest.length === 0 ? this.#members.has(step) : this.below(step).has(rest);
  }

  /** The paths that begin with a step, without that step. */
  below(step: string): FieldSet {
    return this.#children.get(step) ?? FieldSet.empty;
  }

  union(other: FieldSet): FieldSet {
    const steps = new Set([...this.#children.keys(), ...other.#children.keys()]);
    return FieldSet.of(
      [...this.#members, ...other.#members],
      [...steps].map(step => [step, this.below(step).union(other.below(step))] as const),
    );
  }

  intersection(other: FieldSet): FieldSet {
    return FieldSet.of(
      [...this.#members].filter(step => other.#members.has(step)),
      [...this.#children].map(([step, child]) => [step, child.intersection(other.below(step))] as const),
    );
  }

  difference(other: FieldSet): FieldSet {
    return FieldSet.of(
      [...this.#members].filter(step => !other.#members.has(step)),
      [...this.#children].map(([step, child]) => [step, child.difference(other.below(step))] as const),
    );
  }

  /** Only what lies at or below first steps that pass. */
  filter(passes: (step: string) => boolean): FieldSet {
    return FieldSet.of(
      [...this.#members].filter(passes),
      [...this.#children].filter(([step]) => passes(step)),
    );
  }

  /** The set with every first step changed: whether it is a member itself, and what lies below it. */
  map(change: (step: string, found: Found) => Found): FieldSet {
    const steps = [...new Set([...this.#members, ...this.#children.keys()])];
    const changed = steps.map(step => {
      const found = { member: this.#members.has(step), below: this.below(step) };
      return { step, ...change(step, found) };
    });
    return FieldSet.of(
      changed.filter(({ member }) => member).map(({ step }) => step),
      changed.map(({ step, below }) => [step, below] as const),
    );
  }

  /** All paths; of each level first the members, then what is below them. */
  paths(): string[][] {
    const members = [...this.#members].sort(byteOrder).map(step => [step]);
    const steps = [...this.#children.keys()].sort(byteOrder);
    return [
      ...members,
      ...steps.flatMap(step =>
        this.below(step)
          .paths()
          .map(path => [step, ...path]),
      ),
    ];
  }
}

function isStep(text: string): boolean {
  return /^[fikv]:/.test(text);
}

/** A path as messages show it, such as `.spec.containers[name="web"].image`. */
export function printPath(path: readonly string[]): string {
  return path.map(printStep).join('');
}

function printStep(step: string): string {
  const content = step.slice(2);
  switch (step.slice(0, 2)) {
    case 'f:':
      return `.${content}`;
    case 'k:':
      return `[${printKeys(content)}]`;
    case 'v:':
      return `[=${content}]`;
    default:
      return `[${content}]`;
  }
}

function printKeys(json: string): string {
  const keys = parsedJson(json);
  if (!isRecord(keys)) return json;
  return Object.entries(keys)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',');
}

/** Steps come from managedFields, which clients may write. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
