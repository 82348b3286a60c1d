import { existsSync } from 'node:fs';
import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { HostNetwork } from '../../ports.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import { bind, callOnThread, type Koffi, type NativeFunction } from '../native.ts';
import { hnsCalls } from './calls.ts';
import { type HnsRequest, named, readAnswer, readEndpoint, readEndpoints, readNetworks } from './hns-messages.ts';

/** One request to the Host Networking Service: the result of the call and the text of the response. */
export type AskHns = (request: HnsRequest) => Promise<{ result: number; text: string }>;

/** The network compartment of the host itself. */
const hostCompartment = 1;
const limitMs = 120_000;

/** Uses the HNS v1 schema: v2 does not have the management address. */
export function createHostNetwork(ask: AskHns, isInstalled: () => boolean, clock: Clock): HostNetwork {
  // A hanging call holds one of the few pool threads, so there is never more than one.
  let hanging: HnsRequest | undefined;

  async function call(request: HnsRequest): Promise<unknown> {
    if (!isInstalled()) throw notInstalled(request);
    if (hanging !== undefined) throw tooSlow(hanging);
    hanging = request;
    const limit = { clock, ms: limitMs, error: () => tooSlow(request) };
    const { result, text } = await withDeadline(limit, () =>
      ask(request).finally(() => {
        hanging = undefined;
      }),
    );
    return readAnswer(request, result, text);
  }

  // One after the other: the service itself does not process requests in parallel.
  let last: Promise<unknown> = Promise.resolve();
  function inTurn(request: HnsRequest): Promise<unknown> {
    const mine = last.then(() => call(request));
    last = mine.catch(() => undefined);
    return mine;
  }

  /** Another program may have removed the object; the error text depends on the language of Windows. */
  async function remove(path: string, exists: () => Promise<boolean>): Promise<void> {
    if (!(await exists())) return;
    try {
      await inTurn({ method: 'DELETE', path });
    } catch (error) {
      if (await exists()) throw error;
    }
  }

  const networks = async () => (isInstalled() ? readNetworks(await inTurn({ method: 'GET', path: '/networks' })) : []);
  const endpoints = async () =>
    isInstalled() ? readEndpoints(await inTurn({ method: 'GET', path: '/endpoints' })) : [];
  return {
    networks,
    endpoints,
    async createEndpoint(networkId, name) {
      const body = { VirtualNetwork: networkId, Name: name, Policies: [] };
      return readEndpoint(await inTurn({ method: 'POST', path: '/endpoints', body }));
    },
    async attachToHost(endpointId) {
      const body = { SystemType: 'Host', CompartmentId: hostCompartment };
      await inTurn({ method: 'POST', path: `/endpoints/${endpointId}/attach`, body });
    },
    removeEndpoint: id => remove(`/endpoints/${id}`, async () => (await endpoints()).some(each => each.id === id)),
    removeNetwork: id => remove(`/networks/${id}`, async () => (await networks()).some(each => each.id === id)),
  };
}

/** The library is part of the Containers feature. */
export function openHostNetwork(koffi: Koffi, systemDirectory: string, clock: Clock): HostNetwork {
  const isInstalled = () => existsSync(`${systemDirectory}\\${hnsCalls.HNSCall.dll}`);
  let calls: Calls | undefined;
  const ask: AskHns = async request => await askHns(koffi, (calls ??= bindLibrary(koffi)), request);
  return createHostNetwork(ask, isInstalled, clock);
}

function bindLibrary(koffi: Koffi): Calls {
  try {
    return bind(koffi, hnsCalls);
  } catch (cause) {
    throw new AppError('HOST_NETWORK_FAILED', `${hnsCalls.HNSCall.dll} cannot be loaded`, {
      remedy: 'Reboot the host: the installation of the Containers feature may be incomplete.',
      cause,
    });
  }
}

type Calls = Record<keyof typeof hnsCalls, NativeFunction>;

async function askHns(koffi: Koffi, calls: Calls, { method, path, body }: HnsRequest): ReturnType<AskHns> {
  const { HNSCall, CoTaskMemFree } = calls;
  const response: unknown[] = [null];
  const request = body === undefined ? '' : JSON.stringify(body);
  const result = Number(await callOnThread(HNSCall, method, path, request, response));
  if (response[0] === null) return { result, text: '' };
  try {
    return { result, text: koffi.decode.string16(response[0]) };
  } finally {
    CoTaskMemFree(response[0]);
  }
}

function notInstalled(request: HnsRequest): AppError {
  return new AppError('CONTAINERS_FEATURE_MISSING', `${named(request)} is not possible: the service is not installed`, {
    remedy: 'Enable the Containers feature and reboot the host.',
  });
}

function tooSlow(request: HnsRequest): AppError {
  return new AppError('HOST_NETWORK_FAILED', `${named(request)} was not answered within ${limitMs / 1000} s`, {
    remedy: 'Run on the host: Restart-Service hns. If that does not help, reboot the host.',
  });
}
