import { isIpv4 } from '#base/ipv4.ts';

/** Flags that the double uses. */
export interface KubeletFlags {
  config: string;
  bootstrapKubeconfig: string;
  kubeconfig: string;
  certDir: string;
  isService: boolean;
  labels: Record<string, string>;
  nodeIp: string;
  hostnameOverride: string | undefined;
  /** A cloud controller has to initialize the Node. */
  isOfCloud: boolean;
}

/** Flags that our services use; others are rejected, as a real kubelet rejects unknown flags. */
const known = [
  'bootstrap-kubeconfig',
  'cert-dir',
  'cloud-provider',
  'config',
  'hostname-override',
  'image-credential-provider-bin-dir',
  'image-credential-provider-config',
  'kubeconfig',
  'node-ip',
  'node-labels',
  'v',
  'windows-priorityclass',
  'windows-service',
];

/** Reads `--name=value` and `--name value`; errors have the wording of the kubelet. */
export function parseFlags(words: readonly string[]): KubeletFlags {
  const values = readValues(words);
  const required = (name: string) => {
    const value = values.get(name) ?? '';
    if (value === '') throw new Error(`flag needs an argument: --${name}`);
    return value;
  };
  const nodeIp = required('node-ip');
  if (!isIpv4(nodeIp)) throw new Error(`bad --node-ip ${JSON.stringify(nodeIp)}`);
  return {
    config: required('config'),
    bootstrapKubeconfig: required('bootstrap-kubeconfig'),
    kubeconfig: required('kubeconfig'),
    certDir: required('cert-dir'),
    isService: values.has('windows-service') && values.get('windows-service') !== 'false',
    labels: readLabels(values.get('node-labels') ?? ''),
    nodeIp,
    hostnameOverride: values.get('hostname-override'),
    isOfCloud: values.get('cloud-provider') === 'external',
  };
}

function readValues(words: readonly string[]): Map<string, string> {
  const values = new Map<string, string>();
  for (let index = 0; index < words.length; index += 1) {
    const [, name = '', value] = /^--([a-z-]+)(?:=(.*))?$/s.exec(words[index] ?? '') ?? [];
    if (name === '') throw new Error(`unknown command ${JSON.stringify(words[index])}`);
    if (!known.includes(name)) throw new Error(`unknown flag: --${name}`);
    const isSwitch = name === 'windows-service';
    if (value === undefined && !isSwitch) index += 1;
    values.set(name, value ?? (isSwitch ? 'true' : (words[index] ?? '')));
  }
  return values;
}

function readLabels(text: string): Record<string, string> {
  const pairs = text.split(',').filter(pair => pair !== '');
  return Object.fromEntries(
    pairs.map(pair => {
      const [, key, value = ''] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
      if (key === undefined) throw new Error(`malformed pair ${JSON.stringify(pair)}, expect string=string`);
      return [key, value];
    }),
  );
}
