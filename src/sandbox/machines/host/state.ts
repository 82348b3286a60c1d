import type { Adapter, FeatureState, HnsEndpoint, HnsNetwork, OperatingSystem, Route } from '#agent/ports.ts';
import type { Traits } from '../traits.ts';
import type { ServiceRecord } from './services.ts';

/** State of a simulated host without its files. */
export interface HostState {
  hostName: string;
  /** Used after the next boot. */
  newName: string | undefined;
  dnsSuffix: string;
  /** Unique and constant. */
  id: string;
  boots: number;
  os: OperatingSystem;
  containersFeature: FeatureState;
  pendingReboot: string[];
  adapters: Adapter[];
  services: Map<string, ServiceRecord>;
  /** Machine variables in the registry. */
  variables: Record<string, string>;
  /** As processes see them: from the last boot. */
  variablesAtBoot: Record<string, string>;
  /** DER by SHA-256. */
  certificates: Map<string, Uint8Array>;
  networks: HnsNetwork[];
  endpoints: HnsEndpoint[];
  /** IPv4; set by programs, or by DHCP at boot. */
  routes: Route[];
  /** Files of programs whose defect has shown. */
  failedPrograms: Set<string>;
}

export interface HostPlace {
  hostName: string;
  address: string;
  dnsSuffix: string;
  id: string;
}

/** State at the first boot. */
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
    routes: [defaultRoute(place.address)],
    failedPrograms: new Set(),
  };
}

/** Applies pending changes at boot. */
export function bootState(state: HostState): void {
  state.boots += 1;
  state.hostName = state.newName ?? state.hostName;
  state.newName = undefined;
  state.pendingReboot = [];
  state.variablesAtBoot = { ...state.variables };
  loseNetworks(state);
  if (state.containersFeature === 'enable-pending') state.containersFeature = 'enabled';
}

/** Container networks, their adapters, and routes of programs do not survive a boot. */
function loseNetworks(state: HostState): void {
  const macs = new Set(state.endpoints.map(({ mac }) => mac));
  state.adapters = state.adapters.filter(({ mac }) => !macs.has(mac));
  state.routes = state.routes.filter(({ destination }) => destination === '0.0.0.0/0');
  [state.networks, state.endpoints] = [[], []];
}

function defaultRoute(address: string): Route {
  const gateway = address.replace(/\.\d{1,3}$/, '.1');
  return { destination: '0.0.0.0/0', gateway, interfaceIndex: 6, metric: 0 };
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

/** Derived from the address. */
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

/** Some services of every Windows host. */
const windowsServices: readonly GivenService[] = [
  { name: 'sshd', command: 'C:\\Windows\\System32\\OpenSSH\\sshd.exe', description: 'SSH protocol based service' },
  { name: 'hns', command: 'C:\\Windows\\system32\\svchost.exe -k NetSvcs -p', description: 'Host Network Service' },
  { name: 'W32Time', command: 'C:\\Windows\\system32\\svchost.exe -k LocalService', description: 'Windows Time' },
];

/** Programs of services that WMCO did not install. */
export const foreignFolder = 'C:\\Windows\\foreign\\';

function foreignService(name: string): GivenService {
  return {
    name,
    command: `${foreignFolder}${name}.exe --run-service`,
    description: `${name} (not installed by WMCO)`,
  };
}

function recordOf({ name, command, description }: GivenService): [string, ServiceRecord] {
  const config = { command, description, dependencies: [], startType: 'automatic', recovery: undefined } as const;
  const record = { name, config, state: 'stopped', pid: 0, isMarkedForDeletion: false, crashes: 0 } as const;
  return [name.toLowerCase(), record];
}
