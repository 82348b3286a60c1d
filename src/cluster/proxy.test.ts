import { expect, test } from 'vitest';
import { type Environment, proxyVariables } from './proxy.ts';

const url = 'http://user:word@proxy.example.com:3128';

const cases: [name: string, environment: Environment, enabled: boolean, variables: Record<string, string>][] = [
  ['nothing', {}, false, {}],
  [
    'all three',
    { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: '.svc' },
    true,
    { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: '.svc' },
  ],
  ['one alone', { NO_PROXY: 'x' }, true, { NO_PROXY: 'x' }],
  ['an empty value', { HTTPS_PROXY: '' }, true, { HTTPS_PROXY: '' }],
  ['names in lower case', { http_proxy: url, https_proxy: url, no_proxy: 'x' }, false, {}],
  ['names in mixed case', { Http_Proxy: url }, false, {}],
  ['undefined', { HTTP_PROXY: undefined }, false, {}],
  ['other variables', { ALL_PROXY: url, FTP_PROXY: url, PATH: '/bin' }, false, {}],
  ['both spellings', { HTTP_PROXY: url, http_proxy: 'http://other' }, true, { HTTP_PROXY: url }],
  ['white space kept', { NO_PROXY: ' .svc , 10.0.0.0/8 ' }, true, { NO_PROXY: ' .svc , 10.0.0.0/8 ' }],
];
for (const [name, environment, enabled, variables] of cases)
  test(`proxy variables: ${name}`, () => expect(proxyVariables(environment)).toEqual({ enabled, variables }));

test('keeps the order in which the variables are written, whatever that of the environment', () => {
  const { variables } = proxyVariables({ NO_PROXY: 'c', HTTPS_PROXY: 'b', HTTP_PROXY: 'a' });
  expect(Object.keys(variables)).toEqual(['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']);
});
