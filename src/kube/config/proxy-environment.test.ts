import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { proxyFor } from './proxy-environment.ts';

const api = 'https://api-int.example.com:6443';
const proxy = 'http://user:hunter2@proxy.example.com:3128';
const through = (server: string, environment: Record<string, string | undefined>) =>
  proxyFor(server, environment)?.reveal();

const chosen: [
  name: string,
  server: string,
  environment: Record<string, string | undefined>,
  want: string | undefined,
][] = [
  ['no variable', api, {}, undefined],
  ['an empty variable', api, { HTTPS_PROXY: '' }, undefined],
  ['a blank variable', api, { HTTPS_PROXY: '  ' }, undefined],
  ['a variable without a value', api, { HTTPS_PROXY: undefined }, undefined],
  ['HTTPS_PROXY for https', api, { HTTPS_PROXY: proxy }, proxy],
  ['HTTP_PROXY not for https', api, { HTTP_PROXY: proxy }, undefined],
  ['HTTP_PROXY for http', 'http://api.example.com', { HTTP_PROXY: proxy }, proxy],
  ['HTTPS_PROXY not for http', 'http://api.example.com', { HTTPS_PROXY: proxy }, undefined],
  ['small letters', api, { https_proxy: proxy }, proxy],
  ['mixed letters, as Windows allows', api, { Https_Proxy: proxy }, proxy],
  ['blanks around the value', api, { HTTPS_PROXY: ` ${proxy} ` }, proxy],
  ['a value without a scheme', api, { HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128'],
  ['a proxy that speaks TLS', api, { HTTPS_PROXY: 'https://proxy:3129' }, 'https://proxy:3129'],
  ['localhost', 'https://localhost:6443', { HTTPS_PROXY: proxy }, undefined],
  ['a loopback address', 'https://127.0.0.1:6443', { HTTPS_PROXY: proxy }, undefined],
  ['the loopback address of IPv6', 'https://[::1]:6443', { HTTPS_PROXY: proxy }, undefined],
  ['a name that begins like a loopback address', 'https://127.0.0.1.example.com', { HTTPS_PROXY: proxy }, proxy],
];
for (const [name, server, environment, want] of chosen)
  test(`chooses by ${name}`, () => expect(through(server, environment)).toBe(want));

const exceptions: [name: string, noProxy: string, server: string, direct: boolean][] = [
  ['an empty list', '', api, false],
  ['only commas', ',, ,', api, false],
  ['a star', '*', api, true],
  ['the very name', 'api-int.example.com', api, true],
  ['the name in capitals', 'API-INT.Example.COM', api, true],
  ['the name with blanks around', 'a, api-int.example.com ,b', api, true],
  ['a domain above', 'example.com', api, true],
  ['a domain with a dot in front', '.example.com', api, true],
  ['a domain with a star in front', '*.example.com', api, true],
  ['a dot in front of the very name', '.api-int.example.com', api, false],
  ['the end of a name that is no domain', 'ample.com', api, false],
  ['a name below', 'x.api-int.example.com', api, false],
  ['name and port', 'api-int.example.com:6443', api, true],
  ['name and another port', 'api-int.example.com:443', api, false],
  ['the port that https has by itself', 'a.example.com:443', 'https://a.example.com', true],
  ['the port that http has by itself', 'a.example.com:80', 'http://a.example.com', true],
  ['a server with a dot at the end', 'example.com', 'https://api.example.com.:6443', true],
  ['an address', '10.0.0.1', 'https://10.0.0.1:6443', true],
  ['an address and its port', '10.0.0.1:6443', 'https://10.0.0.1:6443', true],
  ['another address', '10.0.0.1', 'https://10.0.0.11:6443', false],
  ['the end of an address', '0.0.1', 'https://10.0.0.1:6443', false],
  ['a network', '10.0.0.0/16', 'https://10.0.3.7:6443', true],
  ['a network of everything', '0.0.0.0/0', 'https://10.0.3.7:6443', true],
  ['another network', '10.1.0.0/16', 'https://10.0.3.7:6443', false],
  ['a network for a name', '10.0.0.0/8', api, false],
  ['a network that is none', '10.0.0.0/33', 'https://10.0.3.7:6443', false],
  ['a network without an address', '/8', 'https://10.0.3.7:6443', false],
  ['an address of IPv6', 'fd00::1', 'https://[fd00::1]:6443', true],
  ['an address of IPv6 in brackets with its port', '[fd00::1]:6443', 'https://[fd00::1]:6443', true],
  ['an address of IPv6 with another port', '[fd00::1]:1', 'https://[fd00::1]:6443', false],
  ['a network of IPv6', 'fd00::/8', 'https://[fd00::1]:6443', true],
  ['a network of IPv6 for IPv4', '::/0', 'https://10.0.0.1:6443', false],
  ['what is nothing at all', ':::', api, false],
];
for (const [name, noProxy, server, direct] of exceptions) {
  test(`NO_PROXY with ${name}`, () => {
    const environment = { HTTPS_PROXY: proxy, HTTP_PROXY: proxy, NO_PROXY: noProxy };
    expect(through(server, environment)).toBe(direct ? undefined : proxy);
    expect(through(server, { ...environment, NO_PROXY: undefined, no_proxy: noProxy })).toBe(
      direct ? undefined : proxy,
    );
  });
}

test('the address of the proxy, which may hold a password, does not print itself', () => {
  expect(String(proxyFor(api, { HTTPS_PROXY: proxy }))).toBe('<redacted>');
});

test('no list, however odd, is an error', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(api, 'https://10.0.0.1', 'https://[fd00::1]:1'), (list, server) => {
      const given = through(server, { HTTPS_PROXY: proxy, HTTP_PROXY: proxy, NO_PROXY: list });
      return given === proxy || given === undefined;
    }),
    { numRuns: 2000 },
  );
});
