import { Either } from './changed.ts';

/** Describes the first difference; undefined when the value matches. */
export function mismatch(wanted: unknown, value: unknown, path = ''): string | undefined {
  if (wanted instanceof RegExp)
    return typeof value === 'string' && wanted.test(value) ? undefined : differs(path, wanted, value);
  if (wanted instanceof Either) return eitherMismatch(wanted, value, path);
  if (Array.isArray(wanted)) return listMismatch(wanted, value, path);
  if (typeof wanted !== 'object' || wanted === null)
    return Object.is(wanted, value) ? undefined : differs(path, wanted, value);
  if (typeof value !== 'object' || value === null) return differs(path, wanted, value);
  for (const [name, member] of Object.entries(wanted)) {
    const found = mismatch(member, (value as Record<string, unknown>)[name], path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function eitherMismatch({ values }: Either, value: unknown, path: string): string | undefined {
  const problems = values.map(one => mismatch(one, value, path));
  return problems.includes(undefined) ? undefined : problems.join('; ');
}

function listMismatch(wanted: readonly unknown[], value: unknown, path: string): string | undefined {
  if (!Array.isArray(value) || value.length !== wanted.length) return differs(path, wanted, value);
  for (const [index, item] of wanted.entries()) {
    const found = mismatch(item, value[index], `${path}[${index}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function differs(path: string, wanted: unknown, value: unknown): string {
  const shown = (item: unknown): string =>
    item instanceof RegExp ? String(item) : (JSON.stringify(item) ?? 'nothing');
  return `${path === '' ? 'the answer' : path} is ${shown(value)}, not ${shown(wanted)}`;
}

export function valueAt(body: unknown, path: string): unknown {
  let value = body;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
