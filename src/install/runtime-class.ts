import { nodeLabel, windowsTaint } from '#contract/names.ts';
import { buildText, windowsBuildLabel, type WindowsVersion } from '#contract/supported-versions.ts';
import { windowsRuntime } from '#node/desired/containerd-config.ts';
import type { RuntimeClass } from '#kube/resources.ts';

/** Places pods on nodes with one build of Windows, which is the one that their images must be made for. */
export function runtimeClass(version: WindowsVersion): RuntimeClass {
  const { key, value, effect } = windowsTaint;
  return {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: `windows${version.release}` },
    handler: windowsRuntime,
    scheduling: {
      nodeSelector: {
        [nodeLabel.os]: 'windows',
        'kubernetes.io/arch': 'amd64',
        [windowsBuildLabel]: buildText(version),
      },
      tolerations: [{ key, operator: 'Equal', value, effect }],
    },
  };
}
