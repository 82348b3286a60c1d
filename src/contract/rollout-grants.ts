import { isRecord, jsonIn } from '#base/fields.ts';
import { type JourneyName, journeyNames } from './windows-instance/resource.ts';

/** A Node that is out of service by permission of the disruption budget. */
export interface GrantNote {
  node: string;
  journey: JourneyName;
  /** As RFC 3339. */
  since: string;
}

const maxGrants = 5000;
const maxCharacters = 2000;

/** Reads the ConfigMap `windows-rollout-grants`: grants by the name of their instance. Other values are left out. */
export function parseGrants(data: Readonly<Record<string, string>> = {}): Map<string, GrantNote> {
  const grants = Object.entries(data)
    .slice(0, maxGrants)
    .flatMap(([instance, text]) => readGrant(text).map(grant => [instance, grant] as const));
  return new Map(grants);
}

function readGrant(text: unknown): GrantNote[] {
  const value = typeof text === 'string' && text.length <= maxCharacters ? jsonIn(text) : undefined;
  if (!isRecord(value)) return [];
  const { node, journey, since } = value;
  const known = journeyNames.find(name => name === journey);
  if (known === undefined || typeof node !== 'string' || typeof since !== 'string') return [];
  return Number.isNaN(Date.parse(since)) ? [] : [{ node, journey: known, since }];
}
