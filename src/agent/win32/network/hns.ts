import { existsSync } from 'node:fs';
import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { HostNetwork } from '../../ports.ts';
import { callOnThread } from '../call-on-thread.ts';
import { hnsCalls } from './hns-calls.ts';
import { type HnsRequest, named, readAnswer, readEndpoint, readEndpoints, readNetworks } from './hns-messages.ts';
import { bind, type Koffi, type NativeFunction } from '../native.ts';

/** One exchange with the Host Networking Service: the result of the call and the text of the answer. */
export type AskHns = (request: HnsRequest) => Promise<{ result: number; text: string }>;

/** The compartment of the network stack in which the host itself lives. */
const hostCompartment = 1;
const limitMs = 120_000;

/** Networks and endpoints by the first version of the schema: the second does not tell the management address. */
export function createHostNetwork(ask: AskHns, isInstalled: () => boolean, clock: Clock): HostNetwork {
  // A call that hangs holds a thread, of which there are few, so there is never more than one.
  let hanging: HnsRequest | undefined;

  async function call(request: HnsRequest): Promise<unknown> {
    if (!isInstalled()) throw notInstalled(request);
    if (hanging !== undefined) throw tooSlow(hanging);
    hanging = request;
    const answer = ask(request).finally(() => {
      hanging = undefined;
    });
    const done = new AbortController();
    const limit = clock.sleep(limitMs, done.signal).then(() => {
      throw tooSlow(request);
    });
    const { result, text } = await Promise.race([answer, limit]).finally(() => done.abort());
    return readAnswer(request, result, text);
  }

  // One after the other: the service itself does not take requests at the same time, either.
  let last: Promise<unknown> = Promise.resolve();
  function inTurn(request: HnsRequest): Promise<unknown> {
    const mine = last.then(() => call(request));
    last = mine.catch(() => undefined);
    return mine;
  }

  const networks = async () => (isInstalled() ? readNetworks(await inTurn({ method: 'GET', path: '/networks' })) : []);
  return {
    networks,
    endpoints: async () => (isInstalled() ? readEndpoints(await inTurn({ method: 'GET', path: '/endpoints' })) : []),
    async createEndpoint(networkId, name) {
      const body = { VirtualNetwork: networkId, Name: name, Policies: [] };
      return readEndpoint(await inTurn({ method: 'POST', path: '/endpoints', body }));
    },
    async attachToHost(endpointId) {
      const body = { SystemType: 'Host', CompartmentId: hostCompartment };
      await inTurn({ method: 'POST', path: `/endpoints/${endpointId}/attach`, body });
    },
    async removeNetwork(id) {
      const isThere = async () => (await networks()).some(network => network.id === id);
      if (!(await isThere())) return;
      try {
        await inTurn({ method: 'DELETE', path: `/networks/${id}` });
      } catch (error) {
        // Somebody else was quicker; the text of that failure depends on the language of Windows.
        if (await isThere()) throw error;
      }
    },
  };
}

/** The library comes with the Containers feature. */
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
      remedy: 'Reboot the host: the Containers feature may not be complete yet.',
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
  return new AppError('HOST_NETWORK_FAILED', `${named(request)} is not answered within ${limitMs / 1000} s`, {
    remedy: 'Restart the service hns on the host, or reboot it.',
  });
}
