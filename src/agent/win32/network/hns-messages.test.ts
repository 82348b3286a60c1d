import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { type HnsRequest, named, readAnswer, readEndpoint, readEndpoints, readNetworks } from './hns-messages.ts';

const request: HnsRequest = { method: 'GET', path: '/networks' };
const answer = (value: unknown) => JSON.stringify(value);

test('names a request', () => {
  expect(named({ method: 'DELETE', path: '/networks/1' })).toBe(
    'request DELETE /networks/1 to the Host Networking Service',
  );
});

test.each([
  ['a list', { Success: true, Output: [1] }, [1]],
  ['an object', { Success: true, Output: { ID: 'x' } }, { ID: 'x' }],
  ['nothing', { Success: true }, undefined],
  ['null', { Success: true, Output: null }, undefined],
])('gives the output of the response: %s', (_, value, want) => {
  expect(readAnswer(request, 0, answer(value))).toEqual(want);
});

test('treats a positive result as success', () => {
  expect(readAnswer(request, 1, answer({ Success: true, Output: 'x' }))).toBe('x');
});

const notFound = -2_147_023_728;
const refusals: [string, number, string, string][] = [
  ['a text', 0, answer({ Success: false, Error: 'Element not found. ' }), 'failed: "Element not found."'],
  ['a result', notFound, '', 'failed: result 0x80070490'],
  ['both', notFound, answer({ Success: false, Error: 'No.' }), 'failed: result 0x80070490, "No."'],
  ['a result against the text', notFound, answer({ Success: true }), 'failed: result 0x80070490'],
  ['no reason', 0, answer({ Success: false }), 'failed: no reason given'],
  ['an empty reason', 0, answer({ Success: false, Error: '' }), 'failed: no reason given'],
  ['a reason that is no text', 0, answer({ Success: false, Error: { a: 1 } }), 'failed: no reason given'],
  ['neither success nor failure', 0, answer({}), 'failed: no reason given'],
  ['success that is no truth', 0, answer({ Success: 'true' }), 'failed: no reason given'],
];
test.each(refusals)('reports a failure with %s', (_, result, text, want) => {
  expect(() => readAnswer(request, result, text)).toThrow(
    expect.objectContaining({
      code: 'HOST_NETWORK_FAILED',
      message: `request GET /networks to the Host Networking Service ${want}`,
      remedy: expect.stringContaining('hns') as string,
    }),
  );
});

test.each(['', 'no JSON', '[]', '"text"', '3'])('rejects the answer %j', text => {
  expect(() => readAnswer(request, 0, text)).toThrow(
    expect.objectContaining({
      code: 'WINDOWS_ANSWER_INVALID',
      message: expect.stringContaining('GET /networks') as string,
    }),
  );
});

test('reads networks, with what some of them lack', () => {
  const networks = [
    {
      ID: 'A1',
      Name: 'OVNKubernetesHybridOverlayNetwork',
      Type: 'Overlay',
      Subnets: [
        { AddressPrefix: '10.132.1.0/24', GatewayAddress: '10.132.1.1' },
        { AddressPrefix: '10.132.2.0/24' },
        { GatewayAddress: '10.132.3.1' },
      ],
      ManagementIP: '10.0.0.5',
    },
    { ID: 'B2', Name: 'nat', Type: 'nat' },
    { ID: 'C3', Subnets: null, ManagementIP: null },
  ];
  expect(readNetworks(networks)).toEqual([
    {
      id: 'A1',
      name: 'OVNKubernetesHybridOverlayNetwork',
      subnets: ['10.132.1.0/24', '10.132.2.0/24'],
      managementIp: '10.0.0.5',
    },
    { id: 'B2', name: 'nat', subnets: [], managementIp: '' },
    { id: 'C3', name: '', subnets: [], managementIp: '' },
  ]);
});

test.each([undefined, null, []])('reads %j as no networks and no endpoints', output => {
  expect(readNetworks(output)).toEqual([]);
  expect(readEndpoints(output)).toEqual([]);
});

const endpoint = {
  ID: 'E1',
  Name: 'VIPEndpoint',
  VirtualNetwork: 'A1',
  VirtualNetworkName: 'OVNKubernetesHybridOverlayNetwork',
  IPAddress: '10.132.1.2',
  MacAddress: '00-15-5D-AB-CD-EF',
};

test('reads endpoints, the hardware address in the form adapters have it', () => {
  const want = { id: 'E1', name: 'VIPEndpoint', networkId: 'A1', ipAddress: '10.132.1.2', mac: '00-15-5d-ab-cd-ef' };
  expect(readEndpoint(endpoint)).toEqual(want);
  expect(readEndpoints([endpoint, { ...endpoint, MacAddress: '00:15:5D:AB:CD:EF' }])).toEqual([want, want]);
  expect(readEndpoint({ ID: 'E2' })).toEqual({ id: 'E2', name: '', networkId: '', ipAddress: '', mac: '' });
});

const wrong: [string, () => unknown][] = [
  ['a network without an ID', () => readNetworks([{ Name: 'x' }])],
  ['an endpoint without an ID', () => readEndpoint({ Name: 'x' })],
  ['a list that is none', () => readNetworks({ ID: 'x' })],
  ['a name that is a number', () => readNetworks([{ ID: 'x', Name: 5 }])],
  ['subnets that are a text', () => readNetworks([{ ID: 'x', Subnets: '10.0.0.0/8' }])],
];
test.each(wrong)('rejects %s', (_, read) => {
  expect(read).toThrow(expect.objectContaining({ code: 'FIELD_INVALID' }));
});

test('throws only AppErrors for any response', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), fc.maxSafeInteger(), (text, result) => {
      try {
        const output = readAnswer(request, result, text);
        readNetworks(output);
        readEndpoints(output);
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    }),
    { numRuns: 2000 },
  );
});
