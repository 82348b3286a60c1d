import type { Adapter, FeatureState, HnsEndpoint, HnsNetwork, OperatingSystem } from '#agent/ports.ts';
import type { Traits } from '../traits.ts';
import type { ServiceRecord } from './services.ts';

/** Everything about a simulated host but its files, as plain data. */
export interface HostState {
  hostName: string;
  /** From the next boot on. */
  newName: string | undefined;
  dnsSuffix: string;
  /** Different for each host, the same for its life. */
  id: string;
  boots: number;
  os: OperatingSystem;
  containersFeature: FeatureState;
  pendingReboot: string[];
  adapters: Adapter[];
  services: Map<string, ServiceRecord>;
  /** Machine variables in the registry. */
  variables: Record<string, string>;
  /** What processes see of them: as they were at the boot. */
  variablesAtBoot: Record<string, string>;
  /** DER by SHA-256. */
  certificates: Map<string, Uint8Array>;
  networks: HnsNetwork[];
  endpoints: HnsEndpoint[];
}

/** What a host is called and where it is. */
export interface HostPlace {
  hostName: string;
  address: string;
  dnsSuffix: string;
  id: string;
}

/** A host that was just switched on for the first time. */
export function freshState(place: HostPlace, traits: Traits): HostState {
  return {
    hostName: traits.hostName ?? place.hostName,
    newName: undefined,
    dnsSuffix: place.dnsSuffix,
    id: place.id,
    boots: 1,
    os: traits.os,
    containersFeature: traits.containersFeature,
    pendingReboot: [...traits.pendingReboot],
    adapters: [
      adapter('Ethernet', { index: 6, mac: macOf(place.address), address: `${place.address}/24`, metric: 25 }),
    ],
    services: new Map([...windowsServices, ...traits.foreignServices.map(foreignService)].map(recordOf)),
    variables: { ...defaultVariables, ...traits.machineVariables },
    variablesAtBoot: { ...defaultVariables, ...traits.machineVariables },
    certificates: new Map(),
    networks: [],
    endpoints: [],
  };
}

/** What a boot makes of a state. */
export function bootState(state: HostState): void {
  state.boots += 1;
  state.hostName = state.newName ?? state.hostName;
  state.newName = undefined;
  state.pendingReboot = [];
  state.variablesAtBoot = { ...state.variables };
  if (state.containersFeature === 'enable-pending') state.containersFeature = 'enabled';
}

export function bootIdOf({ id, boots }: HostState): string {
  return `${id}-${boots}`;
}

export function adapter(
  name: string,
  { index, mac, address, metric }: { index: number; mac: string; address: string; metric?: number },
): Adapter {
  return { name, index, mac, addresses: [address], isUp: true, defaultRouteMetric: metric };
}

/** Made of the address, as DHCP servers like to see it. */
function macOf(address: string): string {
  const octets = address.split('.').map(octet => Number(octet).toString(16).padStart(2, '0'));
  return ['02', '15', ...octets].join('-');
}

const defaultVariables = { OS: 'Windows_NT', Path: 'C:\\Windows\\system32;C:\\Windows', TEMP: 'C:\\Windows\\TEMP' };

interface GivenService {
  name: string;
  command: string;
  description: string;
}

/** A few that every Windows has. */
const windowsServices: readonly GivenService[] = [
  { name: 'sshd', command: 'C:\\Windows\\System32\\OpenSSH\\sshd.exe', description: 'SSH protocol based service' },
  { name: 'hns', command: 'C:\\Windows\\system32\\svchost.exe -k NetSvcs -p', description: 'Host Network Service' },
  { name: 'W32Time', command: 'C:\\Windows\\system32\\svchost.exe -k LocalService', description: 'Windows Time' },
];

function foreignService(name: string): GivenService {
  return { name, command: `C:\\Windows\\foreign\\${name}.exe --run-service`, description: `${name} of somebody else` };
}

function recordOf({ name, command, description }: GivenService): [string, ServiceRecord] {
  const config = { command, description, dependencies: [], startType: 'automatic', recovery: undefined } as const;
  const record = { name, config, state: 'stopped', pid: 0, isMarkedForDeletion: false, crashes: 0 } as const;
  return [name.toLowerCase(), record];
}
