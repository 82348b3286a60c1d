import type { Inventory, InventoryProbe } from '#contract/inventory.ts';
import { hostVariableSources } from '#contract/services/manifest.ts';
import { type InventoryOptions, inventory as takeInventory } from '../inventory/inventory.ts';
import type { FlagValues } from './flags.ts';
import { portsIn } from './one-shot.ts';
import type { Verb } from './verb.ts';

export const inventory: Verb = {
  name: 'inventory',
  summary: 'print all facts about the host that the operator needs',
  required: [],
  optional: ['probe', 'name-source'],
  async run(values, deps) {
    const { version: agentVersion, program, hashOf, clock, signal } = deps;
    const extra = optionsOf(values);
    const found = await takeInventory(portsIn(deps), { agentVersion, program, hashOf, ...extra, clock, signal });
    return { text: textOf(found), data: found };
  },
};

function textOf(found: Inventory): string {
  const { os, adapters, services, networks, files } = found;
  return [
    `Host:        ${found.hostName} (${found.fqdn})`,
    `Node name:   ${found.nodeName === '' ? 'unknown' : found.nodeName}`,
    `System:      ${os.product} ${os.build}, ${os.installationType}`,
    `Agent:       ${found.agentVersion}`,
    `Boot:        ${found.bootId}`,
    `Reboot:      ${found.pendingReboot.join('; ') || 'not pending'}`,
    `Containers:  ${found.containersFeature}`,
    `Time:        ${found.time}`,
    `Free disk:   ${(found.freeBytes / 1e9).toFixed(1)} GB`,
    `Rights:      ${found.isAdministrator ? 'administrator' : 'standard user'}`,
    `Staged:      ${found.stagedVersion === '' ? 'none' : `version ${found.stagedVersion}`}`,
    ...(found.probe === undefined ? [] : [`API server:  ${probeText(found.probe)}`]),
    `Certificate: ${found.certificateExpires === undefined ? 'none' : `until ${found.certificateExpires}`}`,
    ...section('Adapters', adapters, ({ name, addresses, isUp, hasDefaultRoute }) =>
      [name, addresses.join(' '), ...(isUp ? [] : ['down']), ...(hasDefaultRoute ? ['default route'] : [])].join(', '),
    ),
    ...section('Services', services, ({ name, state, command, isManaged }) =>
      [`${name}: ${state}`, ...(isManaged ? [] : ['not installed by WMCO']), command].join(', '),
    ),
    ...section('Networks', networks, ({ name, subnets }) => `${name}: ${subnets.join(' ')}`),
    ...section('Files', Object.entries(files), ([path, sha256]) => `${sha256}  ${path}`),
    ...section('Problems', found.problems, problem => problem),
  ].join('\n');
}

function probeText({ url, problem, clockAheadMs }: InventoryProbe): string {
  if (problem !== undefined) return `${url} cannot be reached: ${problem}`;
  if (clockAheadMs === undefined) return `${url} can be reached`;
  const seconds = Math.round(clockAheadMs / 1000);
  return `${url} can be reached; its clock is ${Math.abs(seconds)} s ${seconds < 0 ? 'ahead' : 'behind'}`;
}

function section<T>(title: string, items: readonly T[], line: (item: T) => string): string[] {
  return items.length === 0 ? [] : [`${title}:`, ...items.map(item => `  ${line(item)}`)];
}

function optionsOf(values: FlagValues): Pick<InventoryOptions, 'probeUrl' | 'nameSource'> {
  const nameSource = hostVariableSources.find(source => source === values['name-source']);
  return { ...(values.probe !== '' && { probeUrl: values.probe }), ...(nameSource !== undefined && { nameSource }) };
}
