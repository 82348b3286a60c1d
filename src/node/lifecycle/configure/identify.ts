import { isNodeName } from '#base/dns-name.ts';
import { isIpv4 } from '#base/ipv4.ts';
import type { Inventory } from '#contract/inventory.ts';
import { needsUpgrade } from '#contract/node-marks.ts';
import type { InstanceHost } from '#contract/windows-instance/resource.ts';
import { printHostKey } from '#host/host-key.ts';
import { nameSourceOf } from '../../desired/services.ts';
import { addTokens } from '../../record.ts';
import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';
import { checkName } from './name-check.ts';

const shortMs = 60_000;

export const claimName: Step<ConfigureJourney> = {
  name: 'node name',
  description: 'checks that the name of the host belongs to no other Node, before anything is installed',
  limitMs: shortMs,
  async run(journey) {
    // Who has no rights is told so by the preflight; he cannot find out names either.
    if (!journey.inventory.isAdministrator) return;
    const name = nameToBe(journey);
    check(journey, name);
    journey.claimedName = name;
    const { known } = journey.record;
    // A Node that another version has finished is recorded and left as it is.
    if (known.agent !== undefined || !needsUpgrade(journey.node, journey.prepared.inputs.version)) return;
    await journey.record.save({ host: hostOf(journey, name) });
    journey.isAdopted = true;
  },
};

/** After the last reboot: clones of one template all have the name of the template until they are renamed. */
export const recordHost: Step<ConfigureJourney> = {
  name: 'record host',
  description: 'records node name, addresses and token ids, by which certificate requests of the host are approved',
  limitMs: shortMs,
  async run(journey) {
    const { inventory, record, prepared, world } = journey;
    const name = reportedName(inventory);
    check(journey, name);
    journey.claimedName = name;
    const tokens = addTokens(record.known.tokens, prepared.inputs.tokens, world.clock.now());
    await record.save({ host: hostOf(journey, name), tokens });
  },
};

/** The name under which the kubelet registers once the host has been renamed. */
function nameToBe({ instance, inventory }: ConfigureJourney): string {
  const { hostname } = instance.spec;
  const nodeName = reportedName(inventory);
  if (hostname === undefined) return nodeName;
  const [, ...domain] = nodeName.split('.');
  const isOwn = nodeName.split('.', 1)[0] === inventory.hostName.toLowerCase();
  return isOwn ? [hostname.toLowerCase(), ...domain].join('.') : nodeName;
}

/** The agent reports no node name that is none; the computer name then says why. */
function reportedName({ nodeName, hostName }: Inventory): string {
  return nodeName === '' && !isNodeName(hostName.toLowerCase()) ? hostName : nodeName;
}

function check(journey: ConfigureJourney, name: string): void {
  const { address, inventory, instance, world, record, prepared, hostKey } = journey;
  const { nodes, names } = world;
  const certified = instance.status?.certifiedName;
  const recorded = certified ?? record.known.host?.name ?? instance.status?.node;
  const problem = checkName({
    address,
    name,
    problems: inventory.problems,
    reserved: prepared.inputs.reserved,
    holder: name === '' ? undefined : names.claim(name, instance)?.metadata.name,
    addressOf: names.givenTo(name, instance, nodes.list()),
    wantedLabel: wantedLabel(journey),
    dialed: journey.ipv4,
    machineNames: names.machineNames(instance),
    recorded:
      recorded === undefined
        ? undefined
        : { name: recorded, hasNode: nodes.get(recorded) !== undefined, isCertified: certified !== undefined },
    node: nodes.get(name),
    hostKey: hostKey === undefined ? '' : printHostKey(hostKey),
  });
  if (problem !== undefined) throw problem;
}

/** A cloud names its machines otherwise than they name themselves. */
function wantedLabel({ instance, prepared }: ConfigureJourney): string | undefined {
  const { nameSource = 'fqdn' } = nameSourceOf(prepared.inputs.platform);
  return nameSource === 'fqdn' ? instance.spec.hostname?.toLowerCase() : undefined;
}

function hostOf({ ipv4, inventory }: ConfigureJourney, name: string): InstanceHost {
  const addresses = [...(ipv4 === undefined ? [] : [ipv4]), ...routeAddresses(inventory)];
  return { name, addresses: [...new Set(addresses)] };
}

/** IPv4 addresses of the way to everywhere: the kubelet takes one of them as the address of its Node. */
export function routeAddresses({ adapters }: Pick<Inventory, 'adapters'>): string[] {
  return adapters
    .filter(({ isUp, hasDefaultRoute }) => isUp && hasDefaultRoute)
    .flatMap(({ addresses }) => addresses.map(each => each.split('/', 1)[0] ?? '').filter(isIpv4))
    .slice(0, maxAddresses);
}

const maxAddresses = 4;
