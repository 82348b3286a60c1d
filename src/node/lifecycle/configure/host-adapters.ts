import { AppError, shown } from '#base/errors.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { quotedForPowerShell } from '#base/powershell.ts';
import { shortLine } from '#base/printable.ts';
import type { Inventory, InventoryAdapter } from '#contract/inventory.ts';
import { hnsNetwork } from '#contract/names.ts';

/** How many adapters a message names; a host can report any number. */
const maxNamed = 5;

/**
 * A host with several networks is not supported: pods and kubelet could use different ones. A host that has joined before passes,
 * because its Node works and its networks have changed the adapters.
 */
export function adaptersProblem(
  address: string,
  { adapters, networks }: Pick<Inventory, 'adapters' | 'networks'>,
  dialed: string | undefined,
): AppError | undefined {
  const connected = adapters.filter(isConnected);
  const hasJoined = networks.some(({ name }) => name === hnsNetwork.overlay);
  if (connected.length < 2 || hasJoined) return undefined;
  const named = connected.slice(0, maxNamed).map(each => `${shown(each.name)} (${ipv4sOf(each).join(', ')})`);
  const list = [...named, ...(connected.length > maxNamed ? ['…'] : [])].join(', ');
  return new AppError(
    'HOST_ADAPTERS_SEVERAL',
    `${address}: ${connected.length} network adapters are connected and have an IPv4 address: ${list}; one is supported`,
    {
      remedy: `Disable the adapters that the cluster does not use: run \`Disable-NetAdapter -Name ${quotedForPowerShell(shortLine(unused(connected, dialed).name, 256))}\` in PowerShell on the host.`,
    },
  );
}

/**
 * Container networks create adapters named vEthernet. One of them carries the address of the host, with its default route, when a
 * virtual switch is bound to the network card, which has no address then.
 */
function isConnected(adapter: InventoryAdapter): boolean {
  const isOfContainers = adapter.name.startsWith('vEthernet') && !adapter.hasDefaultRoute;
  return adapter.isUp && !isOfContainers && ipv4sOf(adapter).length > 0;
}

/** Without loopback and link-local addresses. */
function ipv4sOf({ addresses }: InventoryAdapter): string[] {
  return addresses
    .map(each => each.split('/', 1)[0] ?? '')
    .filter(each => isIpv4(each) && !/^(127\.|169\.254\.|0\.0\.0\.0$)/.test(each))
    .slice(0, maxNamed);
}

/** Never the adapter that the operator is connected to. */
function unused(connected: readonly InventoryAdapter[], dialed: string | undefined): InventoryAdapter {
  const others = connected.filter(each => !ipv4sOf(each).includes(dialed ?? ''));
  const [first] = [...others.filter(({ hasDefaultRoute }) => !hasDefaultRoute), ...others, ...connected];
  if (first === undefined) throw new Error('no adapter is connected');
  return first;
}
