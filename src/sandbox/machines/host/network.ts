import type { HnsEndpoint, HnsNetwork, HostNetwork } from '#agent/ports.ts';
import { AppError } from '#base/errors.ts';
import { adapter, type HostState } from './state.ts';

type NetworkState = Pick<HostState, 'networks' | 'endpoints' | 'adapters'>;

/** A simulated Host Networking Service. Endpoints attached to the host appear as adapters. */
export class SimulatedNetwork implements HostNetwork {
  readonly #state: NetworkState;

  constructor(state: NetworkState) {
    this.#state = state;
  }

  async networks(): Promise<HnsNetwork[]> {
    return structuredClone(this.#state.networks);
  }

  async endpoints(): Promise<HnsEndpoint[]> {
    return structuredClone(this.#state.endpoints);
  }

  async createEndpoint(networkId: string, name: string): Promise<HnsEndpoint> {
    const network = this.#state.networks.find(({ id }) => id === networkId);
    if (network === undefined) throw missing('network', networkId);
    const number = this.#state.endpoints.length + 2;
    const ipAddress = (network.subnets[0] ?? '').replace(/\.\d{1,3}\/\d{1,2}$/, `.${number}`);
    const mac = `00-15-5d-00-00-${number.toString(16).padStart(2, '0')}`;
    const endpoint = { id: `${networkId}-endpoint-${number}`, name, networkId, ipAddress, mac };
    this.#state.endpoints.push(endpoint);
    return { ...endpoint };
  }

  async attachToHost(endpointId: string): Promise<void> {
    const endpoint = this.#state.endpoints.find(({ id }) => id === endpointId);
    if (endpoint === undefined) throw missing('endpoint', endpointId);
    const { name, ipAddress, mac } = endpoint;
    const index = 20 + this.#state.adapters.length;
    this.#state.adapters.push(adapter(`vEthernet (${name})`, { index, mac, address: `${ipAddress}/24` }));
  }

  async removeEndpoint(id: string): Promise<void> {
    this.#removeEndpoints(endpoint => endpoint.id === id);
  }

  async removeNetwork(id: string): Promise<void> {
    this.#state.networks = this.#state.networks.filter(network => network.id !== id);
    this.#removeEndpoints(({ networkId }) => networkId === id);
  }

  #removeEndpoints(isGone: (endpoint: HnsEndpoint) => boolean): void {
    const state = this.#state;
    const macs = state.endpoints.filter(isGone).map(({ mac }) => mac);
    state.endpoints = state.endpoints.filter(endpoint => !isGone(endpoint));
    state.adapters = state.adapters.filter(({ mac }) => !macs.includes(mac));
  }
}

function missing(what: string, id: string): AppError {
  return new AppError('HOST_NETWORK_FAILED', `the Host Networking Service has no ${what} ${id}`, {
    remedy: 'Wait for the next attempt.',
  });
}
