import { proxyVariables } from '#cluster/proxy.ts';
import type { OperatorSettings } from '#cluster/facts.ts';
import type { KubeObject } from '#contract/object.ts';
import { defaultNamespace } from '#contract/names.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import { readLogRotation } from '#node/desired/log-rotation.ts';
import { type Options, textOption } from './command.ts';
import { find } from './find.ts';
import { parsePairs } from './pairs.ts';

/** Operator settings for offline commands: from options, and from the cluster-wide proxy, which OLM passes to the operator. */
export function settingsFrom(options: Options, objects: readonly KubeObject[]): OperatorSettings {
  const environment = { ...clusterProxy(objects), ...parsePairs(options['env'], '--env') };
  return {
    namespace: textOption(options, 'namespace') ?? defaultNamespace,
    version: textOption(options, 'operatorVersion') ?? '',
    debug: options['debug'] === true,
    logRotation: readLogRotation(environment),
    proxy: proxyVariables(environment).variables,
    kubeletVersion: payloadKubeletVersion,
  };
}

function clusterProxy(objects: readonly KubeObject[]): Record<string, string> {
  const status = find(objects, { kind: 'Proxy', name: 'cluster' })?.fields.object('status');
  const members = { HTTP_PROXY: 'httpProxy', HTTPS_PROXY: 'httpsProxy', NO_PROXY: 'noProxy' };
  return Object.fromEntries(
    Object.entries(members).flatMap(([variable, member]) => {
      const value = status?.string(member) ?? '';
      return value === '' ? [] : [[variable, value]];
    }),
  );
}
