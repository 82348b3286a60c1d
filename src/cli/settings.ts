import { proxyVariables } from '#cluster/proxy.ts';
import type { OperatorSettings } from '#cluster/facts.ts';
import { defaultNamespace } from '#contract/names.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import { readLogRotation } from '#node/desired/log-rotation.ts';
import { type Options, textOption } from './command.ts';
import { parsePairs } from './pairs.ts';

/** Operator settings for offline commands. */
export function settingsFrom(options: Options): OperatorSettings {
  const environment = parsePairs(options['env'], '--env');
  return {
    namespace: textOption(options, 'namespace') ?? defaultNamespace,
    version: textOption(options, 'operatorVersion') ?? '',
    debug: options['debug'] === true,
    logRotation: readLogRotation(environment),
    proxy: proxyVariables(environment).variables,
    kubeletVersion: payloadKubeletVersion,
  };
}
