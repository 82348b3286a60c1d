import { isRecord, jsonIn } from '#base/fields.ts';

/** A host that was removed by force: it may still run what the operator installed, and register its Node again. */
export interface RemovedHost {
  /** When, as RFC 3339. */
  removed: string;
  address: string;
  /** Name of its WindowsInstance. */
  instance: string;
}

const maxHosts = 5000;
const maxCharacters = 2000;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

/** Reads the ConfigMap `windows-removed-hosts`: notes by Node name. Other values are left out. */
export function parseRemovedHosts(data: Readonly<Record<string, string>> = {}): Map<string, RemovedHost> {
  const notes = Object.entries(data)
    .slice(0, maxHosts)
    .flatMap(([node, text]) => readNote(text).map(note => [node, note] as const));
  return new Map(notes);
}

function readNote(text: unknown): RemovedHost[] {
  const value = typeof text === 'string' && text.length <= maxCharacters ? jsonIn(text) : undefined;
  if (!isRecord(value)) return [];
  const { removed, address, instance } = value;
  if (typeof removed !== 'string' || !timePattern.test(removed)) return [];
  return typeof address === 'string' && typeof instance === 'string' ? [{ removed, address, instance }] : [];
}
