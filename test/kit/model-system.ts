import type {
  Adapter,
  FeatureState,
  HnsEndpoint,
  HnsNetwork,
  HostNetwork,
  OperatingSystem,
  System,
} from '../../src/agent/ports.ts';
import { hnsNetwork } from '../../src/contract/names.ts';

/** Windows as a whole in memory: name, features, adapters; what is asked for takes effect at the next boot. */
export class ModelSystem implements System {
  name = 'win-1';
  dnsSuffix = '';
  bootNumber = 1;
  os: OperatingSystem = {
    product: 'Windows Server 2022 Datacenter',
    build: '10.0.20348.2700',
    installationType: 'Server Core',
  };
  pending: string[] = [];
  adapterList: Adapter[] = [adapter('Ethernet', ['10.0.0.5/24', 'fe80::5/64'], 25)];
  free = 50e9;
  feature: FeatureState = 'enabled';
  newName: string | undefined;
  readonly running = new Set<string>();
  administrator = true;
  ports: number[] = [22];
  readonly #note: (call: string) => void;

  constructor(note: (call: string) => void) {
    this.#note = note;
  }

  hostName = async () => this.name;
  fqdn = async () => (this.dnsSuffix === '' ? this.name : `${this.name}.${this.dnsSuffix}`);
  operatingSystem = async () => this.os;
  bootId = async () => `boot-${this.bootNumber}`;
  pendingReboot = async () => this.pending;
  adapters = async () => this.adapterList;
  freeBytes = async (_path: string) => this.free;
  containersFeature = async () => this.feature;
  isAdministrator = async () => this.administrator;
  listeningPorts = async () => this.ports;
  isProcessRunning = async (name: string) => this.running.has(name.toLowerCase());

  async enableContainers(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    if (this.feature === 'enabled') return false;
    this.#note('enable containers');
    this.feature = 'enable-pending';
    return true;
  }

  async rename(name: string): Promise<boolean> {
    this.#note(`rename ${name}`);
    this.newName = name;
    return true;
  }

  async reboot(delaySeconds: number, _reason: string): Promise<void> {
    this.#note(`reboot in ${delaySeconds} s`);
  }

  /** What a boot does to all this. */
  boot(): void {
    this.bootNumber += 1;
    this.name = this.newName ?? this.name;
    this.newName = undefined;
    if (this.feature === 'enable-pending') this.feature = 'enabled';
    this.pending = [];
  }
}

/** The Host Networking Service in memory. An endpoint given to the host shows as an adapter of it. */
export class ModelNetwork implements HostNetwork {
  networkList: HnsNetwork[] = [];
  endpointList: HnsEndpoint[] = [];
  /** Looks at the networks before the overlay appears; undefined when there is none to come. */
  overlayAfter: number | undefined;
  readonly #system: ModelSystem;
  readonly #note: (call: string) => void;

  constructor(system: ModelSystem, note: (call: string) => void) {
    this.#system = system;
    this.#note = note;
  }

  async networks(): Promise<HnsNetwork[]> {
    if (this.overlayAfter !== undefined && this.overlayAfter-- <= 0) {
      this.overlayAfter = undefined;
      this.networkList.push(overlayNetwork());
    }
    return [...this.networkList];
  }

  endpoints = async () => [...this.endpointList];

  async createEndpoint(networkId: string, name: string): Promise<HnsEndpoint> {
    this.#note(`create endpoint ${name}`);
    const network = this.networkList.find(one => one.id === networkId);
    if (network === undefined) throw new Error(`network ${networkId} does not exist`);
    const number = this.endpointList.length + 2;
    const ipAddress = `${(network.subnets[0] ?? '').split('.').slice(0, 3).join('.')}.${number}`;
    const endpoint = { id: `endpoint-${number}`, name, networkId, ipAddress, mac: `00-15-5d-00-00-0${number}` };
    this.endpointList.push(endpoint);
    return endpoint;
  }

  async attachToHost(endpointId: string): Promise<void> {
    this.#note(`attach ${endpointId}`);
    const endpoint = this.endpointList.find(one => one.id === endpointId);
    if (endpoint === undefined) throw new Error(`endpoint ${endpointId} does not exist`);
    const { name, ipAddress, mac } = endpoint;
    this.#system.adapterList.push({ ...adapter(`vEthernet (${name})`, [`${ipAddress}/24`]), mac });
  }

  async removeNetwork(id: string): Promise<void> {
    this.networkList = this.networkList.filter(network => network.id !== id);
    this.endpointList = this.endpointList.filter(endpoint => endpoint.networkId !== id);
  }
}

export function adapter(name: string, addresses: string[], defaultRouteMetric?: number): Adapter {
  return { name, index: 7, mac: '00-15-5d-aa-bb-cc', addresses, isUp: true, defaultRouteMetric };
}

export function overlayNetwork(over: Partial<HnsNetwork> = {}): HnsNetwork {
  return { id: 'net-1', name: hnsNetwork.overlay, subnets: ['10.132.1.0/24'], managementIp: '10.0.0.5', ...over };
}
