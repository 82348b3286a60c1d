import { expect, test } from 'vitest';
import { errorOf } from '../../test/kit/outcome.ts';
import { isLoopback, readOptions, type RunSettings, defaultSettings } from './settings.ts';

const inPod = { WATCH_NAMESPACE: 'wmco' };
const read = (line = '', environment: Record<string, string | undefined> = inPod) =>
  readOptions(
    line.split(' ').filter(word => word !== ''),
    environment,
    '11.0.0-abc',
  );
const settings = (line = '', environment: Record<string, string | undefined> = inPod) =>
  read(line, environment)?.settings;

test('has usual values for everything but the namespace', () => {
  expect(read()).toEqual({
    kubeconfig: undefined,
    payloadDir: '/payload',
    payloadKey: undefined,
    payloadCacheDir: '/tmp/windows-machine-config-operator',
    settings: {
      namespace: 'wmco',
      version: '11.0.0-abc',
      debug: false,
      logRotation: { fileSize: '', fileAge: '', flushInterval: '' },
      proxy: {},
      maxParallelJoins: 20,
      maxParallelUploads: 5,
      tokenSeconds: 3600,
      allowLastingTokens: false,
      certificateLifetime: '24h',
      keepsPrivateKeys: true,
      authorizesKeys: false,
      kubeletVersion: 'v1.36.2',
      metricsAddress: { host: '0.0.0.0', port: 9182 },
      healthAddress: { host: '0.0.0.0', port: 9183 },
      podName: '',
      conditionName: '',
    },
  });
});

const flags: [line: string, want: Partial<RunSettings>][] = [
  ['--debugLogging', { debug: true }],
  ['--namespace other', { namespace: 'other' }],
  ['--max-parallel-joins 1', { maxParallelJoins: 1 }],
  ['--max-parallel-joins=1000', { maxParallelJoins: 1000 }],
  ['--max-parallel-uploads 50', { maxParallelUploads: 50 }],
  ['--token-lifetime 10m', { tokenSeconds: 600 }],
  ['--token-lifetime=72h30m', { tokenSeconds: 261_000 }],
  ['--allow-lasting-tokens', { allowLastingTokens: true }],
  ['--allow-lasting-tokens=false', { allowLastingTokens: false }],
  ['--forget-private-keys', { keepsPrivateKeys: false }],
  ['--authorize-keys', { authorizesKeys: true }],
  ['--agent-certificate-lifetime 72h', { certificateLifetime: '72h' }],
  ['--agent-certificate-lifetime=10m', { certificateLifetime: '10m' }],
  ['--kubelet-version v1.20.2', { kubeletVersion: 'v1.20.2' }],
  ['--metrics-bind-address 0', { metricsAddress: undefined }],
  ['--metrics-bind-address=', { metricsAddress: undefined }],
  ['--metrics-bind-address :9182', { metricsAddress: { host: '', port: 9182 } }],
  ['--metrics-bind-address 127.0.0.1:0', { metricsAddress: { host: '127.0.0.1', port: 0 } }],
  ['--metrics-bind-address localhost:65535', { metricsAddress: { host: 'localhost', port: 65_535 } }],
  ['--health-probe-bind-address [::]:8081', { healthAddress: { host: '::', port: 8081 } }],
  ['--health-probe-bind-address [fd00::1]:8081', { healthAddress: { host: 'fd00::1', port: 8081 } }],
  ['--health-probe-bind-address 0', { healthAddress: undefined }],
];
for (const [line, want] of flags) test(`takes ${line}`, () => expect(settings(line)).toMatchObject(want));

const variables: [name: string, environment: Record<string, string>, want: Partial<RunSettings>][] = [
  ['the name of the pod', { POD_NAME: 'wmco-1' }, { podName: 'wmco-1' }],
  ['the OperatorCondition', { OPERATOR_CONDITION_NAME: 'wmco.v11.0.0' }, { conditionName: 'wmco.v11.0.0' }],
  ['flags that OLM adds', { ARGS: '--debugLogging  --max-parallel-joins=3' }, { debug: true, maxParallelJoins: 3 }],
  ['a proxy', { HTTPS_PROXY: 'http://p', NO_PROXY: '' }, { proxy: { HTTPS_PROXY: 'http://p', NO_PROXY: '' } }],
  [
    'log rotation',
    { SERVICES_LOG_FILE_SIZE: ' 100M ' },
    { logRotation: { fileSize: '100M', fileAge: '', flushInterval: '' } },
  ],
];
for (const [name, environment, want] of variables) {
  test(`takes ${name} from the environment`, () =>
    expect(settings('', { ...inPod, ...environment })).toMatchObject(want));
}

test('OP-08: lets ARGS have the last word, as the Go operator does', () => {
  expect(settings('--max-parallel-joins=3', { ...inPod, ARGS: '--max-parallel-joins=4' })?.maxParallelJoins).toBe(4);
});

test('needs no variable for the namespace when a flag names it', () => {
  expect(settings('--namespace wmco', {})?.namespace).toBe('wmco');
});

const places: [line: string, want: object][] = [
  ['--kubeconfig /k', { kubeconfig: '/k' }],
  ['--kubeconfig=', { kubeconfig: undefined }],
  ['--payload-dir /p', { payloadDir: '/p' }],
  ['--payload-key /k.pub', { payloadKey: '/k.pub' }],
  ['--payload-cache-dir /c', { payloadCacheDir: '/c' }],
];
for (const [line, want] of places) test(`takes ${line}`, () => expect(read(line)).toMatchObject(want));

test('does nothing but help when help is wanted, whatever else is wrong', () => {
  expect(read('--help', {})).toBeUndefined();
  expect(read('--max-parallel-joins none --help', {})).toBeUndefined();
});

const refused: [
  name: string,
  line: string,
  environment: Record<string, string | undefined>,
  code: string,
  word: string,
][] = [
  ['no namespace', '', {}, 'SETTING_INVALID', 'WATCH_NAMESPACE'],
  ['an empty namespace', '', { WATCH_NAMESPACE: '' }, 'SETTING_INVALID', 'WATCH_NAMESPACE'],
  ['several namespaces', '', { WATCH_NAMESPACE: 'a,b' }, 'SETTING_INVALID', 'several namespaces'],
  ['a namespace that is none', '--namespace A_B', inPod, 'SETTING_INVALID', 'A_B'],
  ['an empty key, which is not that of the release', '--payload-key=', inPod, 'USAGE', 'the path of a key'],
  ['no joins at all', '--max-parallel-joins 0', inPod, 'SETTING_INVALID', '"0"'],
  ['too many joins', '--max-parallel-joins 1001', inPod, 'SETTING_INVALID', '"1001"'],
  ['half an upload', '--max-parallel-uploads 1.5', inPod, 'SETTING_INVALID', '"1.5"'],
  ['a negative number', '--max-parallel-uploads=-1', inPod, 'SETTING_INVALID', '"-1"'],
  ['a token that ends too soon', '--token-lifetime 9m59s', inPod, 'SETTING_INVALID', '"9m59s"'],
  ['a token that never ends', '--token-lifetime 10000h', inPod, 'SETTING_INVALID', '"10000h"'],
  ['a certificate that ends too soon', '--agent-certificate-lifetime 9m', inPod, 'SETTING_INVALID', '"9m"'],
  ['a certificate without a unit', '--agent-certificate-lifetime 3600', inPod, 'SETTING_INVALID', '"3600"'],
  ['a lifetime without a unit', '--token-lifetime 3600', inPod, 'SETTING_INVALID', '"3600"'],
  ['an address without a port', '--metrics-bind-address 0.0.0.0', inPod, 'SETTING_INVALID', '"0.0.0.0"'],
  ['a port beyond the last', '--metrics-bind-address :65536', inPod, 'SETTING_INVALID', '":65536"'],
  ['an IPv6 address without brackets', '--health-probe-bind-address fd00::1:80', inPod, 'SETTING_INVALID', 'fd00'],
  ['a URL', '--metrics-bind-address http://a:1', inPod, 'SETTING_INVALID', 'http'],
  [
    'a size that is none',
    '',
    { ...inPod, SERVICES_LOG_FILE_SIZE: 'big' },
    'LOG_SETTING_INVALID',
    'SERVICES_LOG_FILE_SIZE',
  ],
  ['a flag in ARGS that is none', '', { ...inPod, ARGS: '--verbose' }, 'USAGE', '--verbose'],
];
for (const [name, line, environment, code, word] of refused) {
  test(`refuses ${name}`, () => {
    const error = errorOf(() => read(line, environment));
    expect(error).toMatchObject({ code, remedy: expect.stringMatching(/\.$/) });
    expect(error?.message).toContain(word);
  });
}

test('default settings are those of an operator without flags, and without HTTP servers', () => {
  const told = settings('--metrics-bind-address=0 --health-probe-bind-address=0');
  expect(defaultSettings({ namespace: 'wmco', version: '11.0.0-abc' })).toEqual(told);
});

const hosts: [host: string, want: boolean][] = [
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['localhost', true],
  ['::1', true],
  ['', false],
  ['0.0.0.0', false],
  ['::', false],
  ['10.0.0.1', false],
  ['127.example.com', false],
];
test.each(hosts)('knows whether %j is the machine itself', (host, want) =>
  expect(isLoopback({ host, port: 1 })).toBe(want),
);
