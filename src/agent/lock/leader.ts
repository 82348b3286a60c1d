import { attempt } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';

/** Who leads: the count of a Lease grows with every change of its holder. */
export interface LeaderTerm {
  /** UID of the Lease. */
  lease: string;
  count: number;
}

const termPattern = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,15})$/i;

/** Parses `<UID of the Lease>.<count>`; undefined for any other text. */
export function parseTerm(text: string): LeaderTerm | undefined {
  const [, lease, count] = termPattern.exec(text) ?? [];
  return lease === undefined ? undefined : { lease: lease.toLowerCase(), count: Number(count) };
}

/** The last leader that is on record; undefined for a record that cannot be parsed. */
export function parseLeader(text: string): LeaderTerm | undefined {
  const read = attempt(() => {
    const fields = new Fields(jsonIn(text), 'record of the leader');
    return parseTerm(`${fields.requiredString('lease')}.${fields.number('count')}`);
  });
  return read.ok ? read.value : undefined;
}

export function printLeader({ lease, count }: LeaderTerm): string {
  return `${JSON.stringify({ lease, count })}\n`;
}

/** Terms of different Leases cannot be compared: a Lease that was deleted and created again starts to count anew. */
export function compareLeader(known: LeaderTerm | undefined, given: LeaderTerm): 'new' | 'same' | 'stale' {
  if (known === undefined || known.lease !== given.lease || given.count > known.count) return 'new';
  return given.count === known.count ? 'same' : 'stale';
}
