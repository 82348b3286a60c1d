import { specSchema } from '#contract/windows-instance/spec-schema.ts';
import type { Schema } from '#contract/windows-instance/schema.ts';
import { statusSchema } from '#contract/windows-instance/status-schema.ts';

export interface Descriptor {
  path: string;
  displayName: string;
  description: string;
  'x-descriptors'?: string[];
}

const console = (name: string) => `urn:alm:descriptor:com.tectonic.ui:${name}`;
const kubernetes = (name: string) => `urn:alm:descriptor:io.kubernetes:${name}`;

type Row = readonly [path: string, displayName: string, ...hints: string[]];

/** What the web console of OpenShift shows of a WindowsInstance; the descriptions are those of the CRD. */
const spec: readonly Row[] = [
  ['address', 'Address', console('text')],
  ['username', 'Windows User', console('text')],
  ['port', 'SSH Port', console('number'), console('advanced')],
  ['keySecret.name', 'SSH Key Secret', kubernetes('Secret'), console('advanced')],
  ['hostKey', 'SSH Host Key', console('text'), console('advanced')],
  ['hostname', 'Computer Name', console('text'), console('advanced')],
  ['labels', 'Node Labels', console('advanced')],
  ['taints', 'Node Taints', console('advanced')],
  ['servingNames', 'Further Serving Names', console('advanced')],
  ['paused', 'Paused', console('booleanSwitch')],
];

const status: readonly Row[] = [
  ['phase', 'Phase', kubernetes('phase')],
  ['step', 'Step', console('text')],
  ['node', 'Node', kubernetes('Node')],
  ['ipv4', 'IPv4 Address', console('text')],
  ['version', 'Operator Version', console('text')],
  ['nextAttempt', 'Next Attempt', console('text')],
  ['conditions', 'Conditions', kubernetes('conditions')],
];

export const specDescriptors = spec.map(row => descriptorOf(row, specSchema));
export const statusDescriptors = status.map(row => descriptorOf(row, statusSchema));

function descriptorOf([path, displayName, ...hints]: Row, schema: Schema): Descriptor {
  const description = path.split('.').reduce(memberOf, schema)['description'];
  return { path, displayName, description: String(description), 'x-descriptors': hints };
}

function memberOf(schema: Schema, name: string): Schema {
  const found = (schema['properties'] as Record<string, Schema> | undefined)?.[name];
  if (found === undefined) throw new Error(`the CRD has no field ${name}`);
  return found;
}
