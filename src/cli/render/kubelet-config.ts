import type { AppError } from '#base/errors.ts';
import { clusterDns, readServiceCidr } from '#cluster/network.ts';
import { OpenshiftObjects } from '#cluster/openshift-objects.ts';
import { file } from '#contract/paths.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import { kubeletConfig } from '#node/desired/kubelet-config.ts';
import { type Command, textOption } from '../command.ts';
import { kubeletSettings } from './kubelet-settings.ts';

export const renderKubeletConfig: Command = {
  name: 'kubelet-config',
  summary: `print the kubelet configuration of a node (${file.kubeletConfig})`,
  example: 'wmco render kubelet-config -f examples/cluster.yaml -o json',
  reads:
    'Network cluster (config.openshift.io), unless --service-cidr is given; ConfigMap windows-kubelet-config if there is one',
  options: ['serviceCidr'],
  needsNoInput: options => options['serviceCidr'] !== undefined,
  run({ objects }, options) {
    const cidr = textOption(options, 'serviceCidr') ?? readServiceCidr(new OpenshiftObjects(objects).network());
    const findings: AppError[] = [];
    const text = kubeletConfig(clusterDns(cidr), payloadKubeletVersion, kubeletSettings(objects, findings));
    const data: unknown = JSON.parse(text);
    const output = { text: JSON.stringify(data, undefined, 2), data, files: { [file.kubeletConfig]: text } };
    return { output, findings };
  },
};
