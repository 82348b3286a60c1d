import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { proxyConfig, readObjects } from '../../test/kit/openshift-objects.ts';
import { clusterProxy, type Environment, proxyVariables } from './proxy.ts';

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

const statuses: [name: string, status: Record<string, unknown>, variables: Record<string, string>][] = [
  ['no proxy', {}, {}],
  ['empty values', { httpProxy: '', httpsProxy: '', noProxy: '' }, {}],
  ['exceptions without a proxy', { noProxy: '.svc' }, {}],
  [
    'all three',
    { noProxy: '.svc', httpsProxy: url, httpProxy: url },
    { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: '.svc' },
  ],
  ['one', { httpsProxy: url }, { HTTPS_PROXY: url }],
];
for (const [name, status, variables] of statuses)
  test(`PRX-01: Proxy of the cluster: ${name}`, () => {
    const [object] = readObjects([proxyConfig(status)]);
    expect(object && clusterProxy(object)).toEqual(variables);
  });

test.each([
  ['a list', [url]],
  ['a line break', `${url}\nX=y`],
  ['a NUL', `${url}\0`],
])('a Proxy with %s is reported without its value', (_, httpProxy) => {
  const [object] = readObjects([proxyConfig({ httpProxy })]);
  const result = attempt(() => object && clusterProxy(object));
  expect(result).toMatchObject({ ok: false, error: { code: 'FIELD_INVALID' } });
  expect(JSON.stringify(result)).not.toContain('word');
});
