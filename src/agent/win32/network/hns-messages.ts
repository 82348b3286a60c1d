import { AppError, shown } from '#base/errors.ts';
import { Fields } from '#base/fields.ts';
import type { HnsEndpoint, HnsNetwork } from '../../ports.ts';

/** A request to the Host Networking Service. */
export interface HnsRequest {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  body?: unknown;
}

/** The output of a response; throws when it reports a failure. A negative result is a failure, whatever the text says. */
export function readAnswer(request: HnsRequest, result: number, text: string): unknown {
  const answer = parseAnswer(text);
  if (answer === undefined && result >= 0) {
    throw new AppError('WINDOWS_ANSWER_INVALID', `${named(request)} got the invalid response ${shown(text)}`, {
      remedy: 'Run on the host: Restart-Service hns.',
    });
  }
  if (result >= 0 && answer?.raw('Success') === true) return answer.raw('Output');
  throw refused(request, result, answer?.raw('Error'));
}

export function readNetworks(output: unknown): HnsNetwork[] {
  return new Fields({ networks: output }, 'the list of HNS networks').objects('networks').map(network => ({
    id: network.requiredString('ID'),
    name: network.string('Name') ?? '',
    subnets: network.objects('Subnets').flatMap(subnet => subnet.string('AddressPrefix') ?? []),
    managementIp: network.string('ManagementIP') ?? '',
  }));
}

export function readEndpoints(output: unknown): HnsEndpoint[] {
  return new Fields({ endpoints: output }, 'the list of HNS endpoints').objects('endpoints').map(endpointOf);
}

export function readEndpoint(output: unknown): HnsEndpoint {
  return endpointOf(new Fields(output, 'an HNS endpoint'));
}

/** The request as error messages name it. */
export function named({ method, path }: HnsRequest): string {
  return `request ${method} ${path} to the Host Networking Service`;
}

function endpointOf(endpoint: Fields): HnsEndpoint {
  return {
    id: endpoint.requiredString('ID'),
    name: endpoint.string('Name') ?? '',
    networkId: endpoint.string('VirtualNetwork') ?? '',
    ipAddress: endpoint.string('IPAddress') ?? '',
    mac: (endpoint.string('MacAddress') ?? '').toLowerCase().replaceAll(':', '-'),
  };
}

function parseAnswer(text: string): Fields | undefined {
  try {
    return new Fields(JSON.parse(text), 'an answer of the Host Networking Service');
  } catch {
    return undefined;
  }
}

function refused(request: HnsRequest, result: number, error: unknown): AppError {
  const reasons = [
    ...(result < 0 ? [`result 0x${(result >>> 0).toString(16)}`] : []),
    ...(typeof error === 'string' && error !== '' ? [shown(error.trim())] : []),
  ];
  return new AppError('HOST_NETWORK_FAILED', `${named(request)} failed: ${reasons.join(', ') || 'no reason given'}`, {
    remedy: 'Check the event log Microsoft-Windows-Host-Network-Service; if it persists, run: Restart-Service hns.',
  });
}
