import { isNodeName } from '#base/dns-name.ts';
import { isIpv4 } from '#base/ipv4.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { Inventory } from '#contract/inventory.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { InstanceHost } from '#contract/windows-instance/resource.ts';
import { printHostKey } from '#host/host-key.ts';
import { nameSourceOf } from '../../desired/services.ts';
import { addTokens } from '../../record.ts';
import type { Step } from '../step.ts';
import { adoptNode, findPredecessors, isAdoptable, isLeftCordoned, takeOver } from './adopt.ts';
import type { ConfigureJourney } from './journey.ts';
import { checkName } from './name-check.ts';
import { checkCluster } from './remedies.ts';

/** Longer than the API server may be too busy. */
const shortMs = 3 * 60_000;

export const claimName: Step<ConfigureJourney> = {
  name: 'node name',
  description: 'checks that no other Node has the name of the host, before anything is installed',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  async run(journey, { signal }) {
    // The preflight reports a user without administrator rights, who cannot read names either.
    if (!journey.inventory.isAdministrator) return;
    const name = expectedName(journey);
    const predecessors = check(journey, name);
    journey.claimedName = name;
    const host = hostOf(journey, name);
    // Before the record, which would be complete without it after a crash.
    if (isLeftCordoned(journey)) await journey.deps.nodes.annotate(name, { [nodeAnnotation.cordoned]: '' }, signal);
    if (isAdoptable(journey, reportedName(journey.inventory))) await adoptNode(journey, host, predecessors);
    await takeOver(journey, host, predecessors, signal);
  },
};

/** After the last reboot: clones of a template have the name of the template until they are renamed. */
export const recordHost: Step<ConfigureJourney> = {
  name: 'record host',
  description: 'records node name, addresses and token ids, which decide about certificate requests of the host',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  async run(journey) {
    const { inventory, record, prepared, deps } = journey;
    const name = reportedName(inventory);
    check(journey, name);
    journey.claimedName = name;
    const tokens = addTokens(record.known.tokens, prepared.inputs.tokens, deps.clock.now());
    await record.save({ host: hostOf(journey, name), tokens });
  },
};

/** The name under which the kubelet registers once the host has been renamed. */
function expectedName({ instance, inventory }: ConfigureJourney): string {
  const { hostname } = instance.spec;
  const nodeName = reportedName(inventory);
  if (hostname === undefined) return nodeName;
  const [, ...domain] = nodeName.split('.');
  const isOwn = nodeName.split('.', 1)[0] === inventory.hostName.toLowerCase();
  return isOwn ? [hostname.toLowerCase(), ...domain].join('.') : nodeName;
}

/** The agent reports no invalid node name; the computer name then shows the reason. */
function reportedName({ nodeName, hostName }: Inventory): string {
  return nodeName === '' && !isNodeName(hostName.toLowerCase()) ? hostName : nodeName;
}

/** Returns the instances from which this one takes over the host. */
function check(journey: ConfigureJourney, name: string): readonly WindowsInstance[] {
  const { address, inventory, instance, deps, record, basics, hostKey } = journey;
  const { nodes, names } = deps;
  const certified = instance.status?.certifiedName;
  const predecessors = name === '' ? [] : findPredecessors(journey, name);
  const recorded = certified ?? record.known.host?.name ?? instance.status?.node;
  const node = nodes.get(name);
  const problem = checkName({
    address,
    name,
    problems: inventory.problems,
    reserved: basics.facts.reserved,
    holder: name === '' ? undefined : names.claim(name, instance, predecessors)?.metadata.name,
    addressOf: names.ownerOf(name, instance, nodes, predecessors),
    isTakenOver: predecessors.length > 0,
    wantedLabel: wantedLabel(journey),
    dialed: journey.ipv4,
    machineNames: names.machineNames(instance),
    recorded:
      recorded === undefined
        ? undefined
        : { name: recorded, hasNode: nodes.get(recorded) !== undefined, isCertified: certified !== undefined },
    node,
    nodeOf: node && names.hostOf(node, instance),
    hostKey: hostKey === undefined ? '' : printHostKey(hostKey),
  });
  if (problem !== undefined) throw problem;
  return predecessors;
}

/** Where the cloud provides the node name, spec.hostname does not decide it. */
function wantedLabel({ instance, basics }: ConfigureJourney): string | undefined {
  const { nameSource = 'fqdn' } = nameSourceOf(basics.facts.platform);
  return nameSource === 'fqdn' ? instance.spec.hostname?.toLowerCase() : undefined;
}

function hostOf({ ipv4, inventory }: ConfigureJourney, name: string): InstanceHost {
  const addresses = [...(ipv4 === undefined ? [] : [ipv4]), ...routeAddresses(inventory)];
  return { name, addresses: [...new Set(addresses)] };
}

/** IPv4 addresses of adapters with a default route: the kubelet uses one of them as address of its Node. */
export function routeAddresses({ adapters }: Pick<Inventory, 'adapters'>): string[] {
  return adapters
    .filter(({ isUp, hasDefaultRoute }) => isUp && hasDefaultRoute)
    .flatMap(({ addresses }) => addresses.map(each => each.split('/', 1)[0] ?? '').filter(isIpv4))
    .slice(0, maxAddresses);
}

const maxAddresses = 4;
