import { clusterDns } from '#cluster/network.ts';
import { file } from '#contract/paths.ts';
import { kubeletConfig } from '#node/desired/kubelet-config.ts';
import { type Command, textOption } from '../command.ts';
import { find, missing } from '../find.ts';
import type { Input } from '../input.ts';

export const renderKubeletConfig: Command = {
  name: 'kubelet-config',
  summary: `the kubelet configuration of a node (${file.kubeletConfig})`,
  example: 'wmco render kubelet-config -f examples/cluster.yaml -o json',
  reads: 'Network cluster (config.openshift.io)',
  options: ['serviceCidr'],
  run(input, options) {
    const text = kubeletConfig(clusterDns(textOption(options, 'serviceCidr') ?? serviceCidr(input)));
    const data: unknown = JSON.parse(text);
    const shown = { text: JSON.stringify(data, undefined, 2), data, files: { [file.kubeletConfig]: text } };
    return { shown, findings: [] };
  },
};

function serviceCidr({ objects }: Input): string {
  const networks = objects.filter(object => object.apiVersion.startsWith('config.openshift.io/'));
  const network = find(networks, { kind: 'Network', name: 'cluster' });
  if (network === undefined) throw missing({ kind: 'Network', name: 'cluster' });
  return network.fields.object('spec').strings('serviceNetwork')[0] ?? '';
}
